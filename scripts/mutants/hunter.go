package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
)

// A mutant is a file of the module with a bug in it.
type mutant struct {
	name string
	file string // relative to the directory of the module
	text string
	by   []string // the tests that are asked: each a package and, after a blank, a pattern
	must bool     // it must compile
}

// A result is what becomes of a mutant.
type result string

const (
	killed   result = "found"
	survived result = "SURVIVED"
	unbuilt  result = "does not compile"
)

// A hunter runs tests on mutants.
type hunter struct {
	root   string
	prefix []string // of each command; nil: none
}

// contained returns the beginning of a command line that runs a command in a pid namespace of its
// own: a test with a bug in it can signal only processes in there, which end with it.
func contained() []string {
	argv := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		argv = append(argv, "--user", "--map-current-user")
	}
	return argv
}

// hunt builds m and runs the tests that have to find it, until one does.
func (h hunter) hunt(m mutant) (result, error) {
	dir, err := os.MkdirTemp("", "dpl-mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := build.Overlay(dir, h.root, map[string]string{m.file: m.text})
	if err != nil {
		return "", err
	}

	if ok, err := h.run(overlay, "build", "-o", os.DevNull, "./"+filepath.Dir(m.file)); !ok {
		return unbuilt, err
	}
	for _, tests := range m.by {
		pkg, pattern, chosen := strings.Cut(tests, " ")
		args := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout=5m",
			"-run", pattern, pkg}
		if !chosen {
			args = append(args, "-short")
		}
		if passed, err := h.run(overlay, args...); !passed {
			return killed, err
		}
	}
	return survived, nil
}

// run reports whether go, and what it starts, succeeds with the flag of an overlay. Programs that tests build
// have the bug as well, since the overlay is in GOFLAGS.
func (h hunter) run(overlay string, args ...string) (bool, error) {
	const longest = 10 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()

	argv := append(append([]string(nil), h.prefix...), append([]string{"go"}, args...)...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = h.root
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " " + overlay)
	cmd.Env = append(os.Environ(), "GOFLAGS="+flags)

	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return false, nil
	}
	return err == nil, err
}
