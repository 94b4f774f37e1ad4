// Package programs lets tests see the programs of a bare Debian, and those that they declare. So a
// test that uses another one, which its machine happens to have, fails on every machine.
//
// The programs of a bare Debian are in essential.txt; make, git and Go are those that the tests
// are run with. All others have a row in scripts/check/tools.txt. A script declares them with
// needs, and the Go tests of a package in its TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(programs.Run(m, "jq", "python3")) }
package programs

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed essential.txt
var list string

// basic are the programs that tests are run with.
var basic = []string{"make", "git", "go", "gofmt"}

// machine is the PATH of the machine, and bare the directory of a bare one.
var machine, bare string

// Run runs the tests of m with a PATH that has the programs of a bare Debian, and those that are
// declared. A child that runs the same test binary keeps the PATH that it gets.
func Run(m *testing.M, declared ...string) (status int) {
	remove, err := Only(declared...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	return m.Run()
}

// Of returns m with a Run that is the function Run, for a TestMain that plays roles.
func Of(m *testing.M, declared ...string) interface{ Run() int } { return tests{m, declared} }

type tests struct {
	m        *testing.M
	declared []string
}

func (t tests) Run() int { return Run(t.m, t.declared...) }

// inside is in the environment of children of tests: their PATH is bare, and this is that of the
// machine.
const inside = "TEST_MACHINE_PATH"

// Only gives this process the PATH of Run, and returns a function that removes what that is made of.
func Only(declared ...string) (remove func(), err error) {
	if machine = os.Getenv(inside); machine != "" {
		return func() {}, nil
	}

	machine = os.Getenv("PATH")
	dir, err := os.MkdirTemp("", "dpl-programs")
	if err != nil {
		return nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	os.Chmod(dir, 0o755) // tests run by root also run programs as the user nobody

	bare = filepath.Join(dir, "bare")
	own := filepath.Join(dir, "declared")
	for into, names := range map[string][]string{
		bare: append(Essential(), basic...), own: declared,
	} {
		if err := link(into, names); err != nil {
			remove()
			return nil, err
		}
	}

	os.Setenv(inside, machine)
	os.Setenv("PATH", own+string(os.PathListSeparator)+bare)
	return remove, nil
}

// Essential returns the names of the programs of a bare Debian.
func Essential() (names []string) {
	for line := range strings.Lines(list) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			names = append(names, name)
		}
	}
	return names
}

// Bare returns the PATH of a bare Debian, without what the package declares.
func Bare() string { return bare }

// Machine returns the PATH of the machine, for what is no part of a test: building the commands.
func Machine() string { return machine }

// There reports whether the machine has the program, which the tests of this package may not have
// declared.
func There(name string) bool { return machine != "" && find(name) != "" }

// Declare makes the program name of the machine visible in dir, which is created. It returns
// exec.ErrNotFound if there is none.
func Declare(dir, name string) error {
	if find(name) == "" {
		return fmt.Errorf("%s: %w", name, exec.ErrNotFound)
	}
	return link(dir, []string{name})
}

// link makes a directory of links to programs, except those that are missing.
func link(dir string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		path := find(name)
		if path == "" {
			continue // a test that needs it reports that
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}

// find returns the path of a program of the machine, or "".
func find(name string) string {
	dirs := append(filepath.SplitList(machine), "/usr/local/sbin", "/usr/sbin", "/sbin")
	for _, dir := range slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if name == "python3" {
			return interpreter(path)
		}
		return path
	}
	return ""
}

// interpreter returns the path of the real Python behind a wrapper, such as pyenv's, which takes
// longer than anything it runs and needs other programs.
func interpreter(path string) string {
	cmd := exec.Command(path, "-c", "import sys; print(sys.executable)")
	cmd.Env = append(os.Environ(), "PATH="+machine)
	out, err := cmd.Output()
	if real := strings.TrimSpace(string(out)); err == nil && real != "" {
		return real
	}
	return path
}
