//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// This file has the tests of TestContainers that are about files: images, users and volumes.

// rootless is a line of shell that makes root a directory to be the root of a container, with
// nothing but the commands, the ledger, /proc and /dev/null.
func (o *observed) rootless() string {
	return "mkdir -p root/bin root/proc root/dev root/ledger ledger && " +
		"touch root/dev/null && mount --bind /dev/null root/dev/null && mount --bind " + o.bin +
		" root/bin && mount --bind ledger root/ledger && mount -t proc proc root/proc"
}

// testScratch has a container that has no files but the commands, and so no user names, no shell, no
// machine id and no /tmp.
func testScratch(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container(o.rootless(), "-pm --mount-proc", "-Urpm --mount-proc")
	c.run("export DPL_LEDGER=/ledger; in='env -u HOME chroot root'")
	c.exits("0", "$in /bin/dpl-run --call main -- /bin/dpl-run --call work -- /bin/dpl-status --check running")
	o.want("operations/build.json", "state=completed")
	c.exits("0", "$in /bin/dpl-queue q --create; $in /bin/dpl-enqueue q --dir / -- /bin/dpl-status --queue q")
	c.exits("0", "$in /bin/dpl-work q && $in /bin/dpl-status --queue q --check empty")
	c.exits("0", "$in /bin/dpl-doctor && grep -q 'a container' said")
}

// testReadOnlyRoot has a container whose root cannot be written to, without /etc/passwd, for a user
// without a name.
func testReadOnlyRoot(t *testing.T, bin string) {
	otherUser(t)
	o := ledgerOf(t, bin)
	c := o.container("mkdir ledger && chown 12345 ledger && chmod 700 ledger && "+
		"mount --bind ledger ledger && mount -t tmpfs none /etc && chmod 755 . .. && "+
		"mount -o remount,bind,ro /", "-pm --mount-proc")
	c.run("touch /written && echo >ledger/written")
	c.run("in='setpriv --reuid 12345 --regid 12345 --clear-groups env HOME=/'")

	if _, err := os.Stat(o.dir + "/ledger/written"); err == nil {
		t.Error("the root can be written to")
	}
	lines := map[string]string{
		"0":  `$in dpl-run --call main -- sh -c 'echo >$DPL_TMP/x && dpl-run -- true'`,
		"73": `cd /; $in env -u DPL_LEDGER dpl-push --call x --participant p`,
	}
	for status, line := range lines {
		if got := c.run("(" + line + ") >/dev/shm/said.$$ 2>&1; echo $?; cat /dev/shm/said.$$; " +
			"rm /dev/shm/said.$$"); !strings.HasPrefix(got, status+"\n") && got != status {
			t.Errorf("%s: %s, want %s", line, got, status)
		}
	}
	o.asUser(12345, "operations/build.json")
}

// otherUser skips the test unless it may become user 12345, which root of a user namespace may not.
func otherUser(t *testing.T) {
	t.Helper()
	strict.Root(t)
	if err := os.Chown(t.TempDir(), 12345, 12345); err != nil {
		strict.Skip(t, "needs another user: "+err.Error())
	}
}

// asUser expects a file of the ledger to belong to uid.
func (o *observed) asUser(uid uint32, file string) {
	o.t.Helper()
	info, err := os.Stat(o.dir + "/ledger/" + file)
	if err != nil {
		o.t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t).Uid; got != uid {
		o.t.Errorf("%s belongs to %d, want %d", file, got, uid)
	}
}

// testOwnerElsewhere has a ledger of a user that the user namespace of a container does not have.
func testOwnerElsewhere(t *testing.T, bin string) {
	otherUser(t)
	o := ledgerOf(t, bin)
	o.run("dpl-push", "--participant", "cli", "--call", "main")
	o.sh("chmod -R go+rX . && chmod 755 . ..")
	c := o.container("cd "+o.dir, "-Urp --map-root-user --mount-proc")
	c.exits("0", "dpl-heartbeat --call main") // root is mapped

	nobody := o.command("sh")
	nobody.Path, nobody.Args = strict.Program(t, "setpriv"), append([]string{"setpriv",
		"--reuid", "12345", "--regid", "12345", "--clear-groups"}, append(namespaces(t, "-Urp"),
		filepath.Join(bin, "dpl-heartbeat"), "--call", "main")...)
	out, err := nobody.CombinedOutput()
	if got, _ := exitStatus(err); got != "77" ||
		!strings.Contains(string(out), "a user that this container does not have") {
		t.Errorf("got %s: %s", got, out)
	}
}

// testGroupOfFiles gives the files of a ledger to a group, for it to write to, as Kubernetes does
// with fsGroup whenever it mounts a volume. Only a shared ledger is used like that.
func testGroupOfFiles(t *testing.T, bin string) {
	for _, shared := range []bool{false, true} {
		o := ledgerOf(t, bin)
		push, status := []string{"--participant", "cli", "--call", "main"}, "77"
		if shared {
			push, status = append(push, "--shared"), "0"
		}
		o.run("dpl-push", push...)
		o.sh("chmod -R g+rwX ledger && find ledger -type d -exec chmod g+s {} +")
		o.here(status, "dpl-heartbeat --call main")
	}
}

// testLedgerInImage has a ledger in the image of a container: in the lower layer of an overlay.
func testLedgerInImage(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	o.run("dpl-push", "--participant", "cli", "--call", "main", "--staleness", "1h")
	o.run("dpl-push", "--participant", "cli", "--call", "work", "--pid", strconv.Itoa(os.Getpid()),
		"--tmp", "--resource", o.dir+"/ledger/tmp/build/built")
	o.sh("mkdir -p ledger/tmp/build/built/deep")
	c := o.container("mkdir upper work && mount -t overlay -o "+
		"lowerdir=ledger,upperdir=upper,workdir=work none ledger && export DPL_SYNC=none", "-pm --mount-proc",
		"-Urpm --mount-proc")

	// All commands lock the same file, although the first to open it makes a copy.
	c.run("for i in 1 2 3 4 5 6 7 8; do dpl-push --participant p --call $i & done 2>lost; wait")
	if got := c.run("cat lost; dpl-status --op build --ids | wc -w"); got != "10" {
		t.Errorf("%s calls, want 10", got)
	}

	// A change is seen at once.
	c.run("dpl-wait --for aborted --timeout 30s & sleep 0.1")
	c.exits("0", "dpl-abort --op build; wait $!")

	// A directory of the image cannot be renamed, and stays.
	c.exits("0", "dpl-cleanup --now "+o.later(0, 2*time.Hour))
	c.exits("0", "dpl-cleanup --now "+o.later(0, 3*time.Hour))
	c.exits("0", "grep -q 'a directory of a container.s image cannot be renamed' "+
		"ledger/archive/build.json ledger/operations/build.json 2>/dev/null")
	c.exits("0", "test -d ledger/tmp/build/built/deep")
	c.exits("0", "dpl-doctor >found; grep -q '^note  *place .*on an overlay' found")
}

// testLedgerInMemory has a ledger on a tmpfs.
func testLedgerInMemory(t *testing.T, bin string) {
	o := ledgerOf(t, bin)
	c := o.container("mkdir ledger && mount -t tmpfs -o mode=700 none ledger", "-pm --mount-proc",
		"-Urpm --mount-proc")
	c.exits("0", "dpl-run -- dpl-doctor >found; grep -q '^note  *place .*tmpfs' found")
}
