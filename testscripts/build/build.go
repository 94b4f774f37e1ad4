// Package build builds the dpl commands for tests that run them.
package build

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/programs"
)

// sources are the sources of the commands, and of the second implementation, below the directory of
// the module.
var sources = []string{"cmd", "fileops", "protocol", "scripts/demo", "spec/conformance", "go.mod",
	"go.sum"}

// soon are the flags for tests that are run with -short: without inlining, the commands are built in
// half the time. Package process stays as it is, because it has code that must not call functions.
var soon = []string{
	"-gcflags=github.com/dpl-project/dpl/...=-l",
	"-gcflags=github.com/dpl-project/dpl/cmd/internal/process/...=",
}

// Commands is CommandsIn for the directory of one test, which it returns.
func Commands(t testing.TB, root string, flags ...string) string {
	t.Helper()
	bin := t.TempDir()
	if err := CommandsIn(bin, root, flags...); err != nil {
		t.Fatal(err)
	}
	return bin
}

// CommandsIn builds the commands in a directory, as the Makefile does, with additional flags of go
// build, and lets everyone read it. root is the directory of the module. It opens all sources, so
// go test runs the calling package again if one changes.
func CommandsIn(bin, root string, flags ...string) error {
	if err := readSources(root); err != nil {
		return err
	}

	linker, cgo := "-s -w", "0"
	if slices.Contains(flags, "-race") {
		cgo = "1" // the race detector is written in C
	} else if platform := runtime.GOOS + "-" + runtime.GOARCH; platform == "linux-amd64" ||
		platform == "linux-arm64" {
		linker += " -E dpl_entry"
	}

	if flag.Parsed() && testing.Short() {
		flags = append(flags, soon...)
	}

	cmd := exec.Command("go",
		append([]string{"build", "-buildvcs=false", "-trimpath", "-ldflags=" + linker, "-o", bin +
			"/"}, flags...)...)
	for _, program := range Programs() {
		cmd.Args = append(cmd.Args, "./cmd/"+program)
	}
	if err := runGo(cmd, root, cgo); err != nil {
		return err
	}
	if err := link(bin, root); err != nil {
		return err
	}

	// Tests run by root also run commands as the user nobody.
	for dir := bin; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}

	return nil
}

// Alone builds commands as programs of their own, as go install does, to bin.
func Alone(bin, root string, names []string) error {
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", bin+"/")
	for _, name := range names {
		cmd.Args = append(cmd.Args, "./cmd/"+name)
	}
	return runGo(cmd, root, "0")
}

// runGo runs a command of go in the module, with or without cgo.
func runGo(cmd *exec.Cmd, root, cgo string) error {
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if path := programs.Machine(); path != "" { // go finds a compiler for C there
		cmd.Env = append(cmd.Env, "PATH="+path)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

// Programs returns the names of the programs. Most commands are links to them.
func Programs() []string { return []string{"dpl", "dpl-check", "dpl-status"} }

// link makes the links of the Makefile.
func link(bin, root string) error {
	dirs, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*"))
	if err != nil {
		return err
	}

	for _, dir := range dirs {
		name := filepath.Base(dir)
		if _, err := os.Lstat(filepath.Join(bin, name)); err == nil {
			continue
		}
		if err := os.Symlink(Program(name), filepath.Join(bin, name)); err != nil {
			return err
		}
	}

	return nil
}

// Program returns the name of the program that a command is in.
func Program(command string) string {
	switch command {
	case "dpl-check", "dpl-status":
		return command
	case "dpl-answer", "dpl-audit", "dpl-trace":
		return "dpl-status"
	}
	return "dpl"
}

func readSources(root string) error {
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source),
			func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || strings.HasSuffix(path, ".pyc") {
					return err
				}
				_, err = os.ReadFile(path)
				return err
			})

		if err != nil {
			return err
		}
	}

	return nil
}
