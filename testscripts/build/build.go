// Package build builds the dpl commands for tests that run them.
package build

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// sources are what the commands, and the second implementation, are made of, below the directory of the module.
var sources = []string{"cmd", "fileops", "protocol", "scripts/demo", "spec/conformance", "go.mod", "go.sum"}

// Commands is CommandsIn for the directory of one test, which it returns.
func Commands(t testing.TB, root string, flags ...string) string {
	t.Helper()
	bin := t.TempDir()
	if err := CommandsIn(bin, root, flags...); err != nil {
		t.Fatal(err)
	}
	return bin
}

// CommandsIn builds the commands to a directory, as the Makefile does, with additional flags of go build, and has everybody
// read there. root is the directory of the module. Go test runs the calling package again if a source changes, because CommandsIn
// opens them all.
func CommandsIn(bin, root string, flags ...string) error {
	if err := readSources(root); err != nil {
		return err
	}
	linker, cgo := "-s -w", "0"
	if slices.Contains(flags, "-race") {
		cgo = "1" // the race detector is written in C
	} else if platform := runtime.GOOS + "-" + runtime.GOARCH; platform == "linux-amd64" || platform == "linux-arm64" {
		linker += " -E dpl_entry"
	}
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-trimpath", "-ldflags=" + linker, "-o", bin + "/"}, flags...)...)
	cmd.Args = append(cmd.Args, "./cmd/...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	// Tests that are run by root have commands run by nobody.
	for dir := bin; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	return nil
}

func readSources(root string) error {
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source), func(path string, d fs.DirEntry, err error) error {
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
