package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

	dpkg("--install", deb)
	if got := inside(t, dir, "dpl-push", "--op=o", "--call=c", "--participant=p"); got != "o c\n" {
		t.Errorf("dpl-push: %q", got)
	}

	inside(t, dir, "dpl-pop", "--op=o", "--call=c")
	if got := inside(t, dir, "dpl-status", "--op=o"); !strings.HasPrefix(got, "o: completed, ") {
		t.Errorf("dpl-status: %q", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}

	enabled, others := enableTimers(t, dir)
	dpkg("--install", deb)
	for _, link := range enabled {
		if !there(link) {
			t.Errorf("an upgrade disables %s", link)
		}
	}

	dpkg("--purge", "dpl")
	for _, left := range below(t, dir) {
		if !strings.HasPrefix(left, "var/lib/dpkg/") && !slices.Contains(others, left) {
			t.Errorf("%s is left", left)
		}
	}
	for _, name := range others {
		if !there(filepath.Join(dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}

	if known := text(t, dir, "var/lib/dpkg/status"); known != "" {
		t.Errorf("dpkg still knows\n%s", known)
	}
}

// enableTimers enables timers of the package in dir, and makes other links, which it returns
// relative to dir.
func enableTimers(t *testing.T, dir string) (enabled, others []string) {
	t.Helper()
	for _, name := range []string{"system/timers.target.wants/dpl-cleanup.timer",
		"system/timers.target.wants/dpl-orchestrate@shop.timer",
		"user/timers.target.wants/dpl-orchestrate@shop.timer",
		"system/timers.target.wants/other.timer", "system/timers.target.wants/dpl-other.timer",
		"user/timers.target.wants/other.timer"} {
		link := filepath.Join(dir, "etc/systemd", name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/usr/lib/systemd/"+name, link); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "other.timer") {
			others = append(others, "etc/systemd/"+name)
		} else {
			enabled = append(enabled, link)
		}
	}
	return enabled, others
}

// there reports whether path names anything, such as a link that leads nowhere.
func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inside runs a command of a package in a root directory.
func inside(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return output(t, &exec.Cmd{
		Path: "/usr/bin/" + args[0], Args: args, Dir: "/", Env: []string{"HOME=/home", "PATH=/usr/bin"},
		SysProcAttr: &syscall.SysProcAttr{Chroot: dir},
	})
}

// rpmInstall installs a package with rpm into an empty directory, uses it there, and erases it.
func rpmInstall(t *testing.T, rpm string) {
	strict.Root(t) // for chroot
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		output(t, exec.Command("rpm", append([]string{"--root", dir, "--dbpath", "/db"}, args...)...))
	}

	copyShell(t, dir)
	enabled, others := enableTimers(t, dir)
	run("--install", "--nosignature", "--nodeps", rpm) // the shell is in no package
	if got := inside(t, dir, "dpl-push", "--op=o", "--call=c", "--participant=p"); got != "o c\n" {
		t.Errorf("dpl-push: %q", got)
	}

	run("--erase", "dpl")
	for _, left := range below(t, filepath.Join(dir, "usr")) {
		if !isDirectory(left) || strings.Contains(left, "/dpl/") {
			t.Errorf("usr/%s is left", left)
		}
	}
	for _, link := range enabled {
		if there(link) {
			t.Errorf("%s is left", link)
		}
	}
	for _, name := range others {
		if !there(filepath.Join(dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
}

// copyShell copies what scripts of packages need to dir: sh, rm and their libraries.
func copyShell(t *testing.T, dir string) {
	t.Helper()
	for _, program := range []string{"/bin/sh", "/bin/rm"} {
		files := []string{program}
		for _, word := range strings.Fields(output(t, exec.Command("ldd", program))) {
			if strings.HasPrefix(word, "/") {
				files = append(files, word)
			}
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, data, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runImage runs commands in the root directory of the image, which has no /etc, /proc and /tmp.
func runImage(t *testing.T, dir string) {
	strict.Root(t) // for chroot
	if got := inside(t, dir, "dpl", "push", "--ledger=/ledger", "--op=o", "--call=c",
		"--participant=p"); got != "o c\n" {
		t.Errorf("dpl push: %q", got)
	}

	inside(t, dir, "dpl", "run", "--ledger=/ledger", "--op=o", "--join", "--", "/usr/bin/dpl-status",
		"--ledger=/ledger", "--check=running")
	inside(t, dir, "dpl-pop", "--ledger=/ledger", "--op=o", "--call=c")
	if got := inside(t, dir, "dpl-status", "--ledger=/ledger",
		"--op=o"); !strings.HasPrefix(got, "o: completed, ") {
		t.Errorf("dpl-status: %q", got)
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
