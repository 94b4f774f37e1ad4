package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// debianPurge installs a package with dpkg into an empty root directory, uses it there, and purges
// it.
func debianPurge(t *testing.T, deb string) {
	strict.Program(t, "dpkg")
	strict.Root(t) // for dpkg and chroot
	dir := emptyRoot(t)
	dpkg := func(args ...string) {
		t.Helper()
		cmd := exec.Command("dpkg",
			append([]string{"--root=" + dir, "--force-script-chrootless", "--log=" + os.DevNull},
				args...)...)
		cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
		output(t, cmd)
	}

	inside := func(args ...string) string {
		t.Helper()
		return output(t, &exec.Cmd{
			Path: "/usr/bin/" + args[0], Args: args, Dir: "/", Env: []string{"HOME=/home"},
			SysProcAttr: &syscall.SysProcAttr{Chroot: dir},
		})
	}

	dpkg("--install", deb)
	if got := inside("dpl-push", "--op=o", "--call=c", "--participant=p"); got != "o c\n" {
		t.Errorf("dpl-push: %q", got)
	}

	inside("dpl-pop", "--op=o", "--call=c")
	if got := inside("dpl-status", "--op=o"); !strings.HasPrefix(got, "o: completed, ") {
		t.Errorf("dpl-status: %q", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}

	dpkg("--purge", "dpl")
	for _, left := range below(t, dir) {
		if !strings.HasPrefix(left, "var/lib/dpkg/") {
			t.Errorf("%s is left", left)
		}
	}

	if known := text(t, dir, "var/lib/dpkg/status"); known != "" {
		t.Errorf("dpkg still knows\n%s", known)
	}
}

// emptyRoot returns a directory that dpkg takes for one in which no package is installed.
func emptyRoot(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates",
		"var/lib/dpkg/triggers", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(dir, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}
