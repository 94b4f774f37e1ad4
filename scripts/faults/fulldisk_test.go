//go:build linux

package faults

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// The messages of the test to itself inside the namespace.
const (
	binVariable  = "DPL_FAULTS_BIN"
	diskVariable = "DPL_FAULTS_DISK"
)

// testFullDisk runs TestFullDiskInside in namespaces where any user may mount a disk.
func testFullDisk(t *testing.T, bin string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	disk := t.TempDir()
	inside := func(flags uintptr) ([]byte, error) {
		cmd := exec.Command(self, "-test.run=^TestFullDiskInside$", "-test.v")
		cmd.Env = append(os.Environ(), binVariable+"="+bin, diskVariable+"="+disk)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		return cmd.CombinedOutput()
	}

	out, err := inside(syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS)
	if notStarted(err) && os.Geteuid() == 0 {
		out, err = inside(syscall.CLONE_NEWNS)
	}

	switch {
	case notStarted(err) && os.Geteuid() != 0 && os.Getenv("STRICT") != "":
		t.Errorf("needs root, or user namespaces, and STRICT leaves nothing out: %v", err)
	case notStarted(err):
		t.Skipf("needs root, or user namespaces: %v", err)
	case err != nil:
		t.Errorf("%v:\n%s", err, out)
	default:
		t.Logf("%s", out)
	}
}

// notStarted reports whether err is that of a process that could not even begin.
func notStarted(err error) bool {
	_, ended := errors.AsType[*exec.ExitError](err)
	return err != nil && !ended
}

// TestFullDiskInside is run by TestFaults.
func TestFullDiskInside(t *testing.T) {
	bin, disk := os.Getenv(binVariable), os.Getenv(diskVariable)
	if bin == "" {
		t.Skip("TestFaults runs it")
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}

	for _, kind := range []fullDisk{{"bytes", "size=512k", fillBytes},
		{"inodes", "size=4m,nr_inodes=64", fillInodes}} {
		refused, tried := 0, 0
		for _, mode := range modes {
			for _, s := range some(mode.subjects()) {
				if s.unrecorded {
					continue
				}
				tried++
				t.Run(kind.name+"/"+mode.name+"/"+s.name, func(t *testing.T) {
					if kind.try(t, bin, disk, mode, s) {
						refused++
					}
				})
			}
		}

		t.Logf("%s: %d of %d commands were refused, and changed nothing", kind.name, refused,
			tried)
		if refused == 0 {
			t.Errorf("%s: the disk was not full", kind.name)
		}
	}
}

// A fullDisk is a disk that has no room of one kind.
type fullDisk struct {
	name, options string
	fill          func(dir string) error
}

func (f fullDisk) String() string { return "a disk without free " + f.name }

// try runs a subject on the full disk, and again when there is space. It reports whether the full
// disk was too full.
func (f fullDisk) try(t *testing.T, bin, disk string, mode commitMode, s subject) (refused bool) {
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, f.options+",mode=700"); err != nil {
		t.Fatal(err)
	}

	tr := &trial{t: t, subject: s, count: make(map[string]int)}
	tr.world = &world{bin: bin, base: filepath.Join(disk, "w"),
		template: filepath.Join(t.TempDir(), "template"), mode: mode}
	t.Cleanup(func() {
		proc.EndAll(tr.base)
		if !poll.Within(poll.Patience, func() bool {
			runtime.GC() // a ledger that this process has read keeps its directories open until then
			return syscall.Unmount(disk, 0) == nil
		}) {
			t.Error("somebody still uses the disk")
		}
	})

	tr.build(t, s.setup)
	tr.first()
	tr.reset(t)
	if err := f.fill(disk); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}

	got := tr.world.run(s.do)
	now := tr.see()
	tr.checkStatus(f, got, now)
	if left := tr.leftovers(); left != nil {
		t.Errorf("left about: %q", left)
	}
	if refused = now.equal(tr.old); !refused {
		return false
	}
	if err := os.RemoveAll(filepath.Join(disk, "fill")); err != nil {
		t.Fatal(err)
	}
	if got := tr.world.run(s.do); got.status != tr.status || !tr.see().equal(tr.new) {
		t.Errorf("with room again: %v\n%s", got, tr.see().differences(tr.new))
	}

	return true
}

func fillBytes(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "fill"), 0o700); err != nil {
		return err
	}

	f, err := os.Create(filepath.Join(dir, "fill", "zeros"))
	if err != nil {
		return err
	}
	defer f.Close()

	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return err
}

func fillInodes(dir string) error {
	err := os.Mkdir(filepath.Join(dir, "fill"), 0o700)
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(dir, "fill", strconv.Itoa(i)), nil, 0o600)
	}
	return err
}
