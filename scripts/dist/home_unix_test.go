//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// installHome installs to ~/.local and uninstalls as a user other than root.
func installHome(t *testing.T, source string) {
	home := filepath.Join(readable(t), "jörg")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}

	path := withoutGo(t)
	as := func(args ...string) *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = source
		cmd.Env = []string{"PATH=" + path, "HOME=" + home}
		if os.Getuid() == 0 {
			const nobody = 65534
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody,
				Gid: nobody}}
			if err := os.Chown(home, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}

		return cmd
	}

	prefix := filepath.Join(home, ".local")
	output(t, as("make", "install", "PREFIX="+prefix))
	same(t, "make install", below(t, prefix), installed(t, source))
	if got := output(t, as(filepath.Join(prefix, "bin/dpl-push"), "--op=o", "--call=c",
		"--participant=p")); got != "o c\n" {
		t.Errorf("dpl-push: %q", got)
	}

	output(t, as(filepath.Join(prefix, "bin/dpl-pop"), "--op=o", "--call=c"))
	output(t, as("make", "uninstall", "PREFIX="+prefix))
	left := slices.DeleteFunc(below(t, prefix),
		func(name string) bool { return strings.HasPrefix(name, "state/dpl/") })
	same(t, "make uninstall", left, nil)
}
