//go:build linux

package faults

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/rig"
)

// each runs test for some subjects in each mode, with a trial whose subject has run once.
func each(t *testing.T, bin string, test func(*trial)) {
	for _, mode := range modes {
		if mode.every > 1 && !rig.Soak() {
			continue // how it commits makes no difference here
		}
		for _, s := range some(mode.subjects()) {
			t.Run(mode.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				tr := &trial{t: t, subject: s, world: newWorld(t, bin, mode, s.setup...),
					count: make(map[string]int)}
				tr.first()
				test(tr)
			})
		}
	}
}

// first runs the subject without a fault, which nobody traces.
func (tr *trial) first() {
	tr.begin()
	tr.status = tr.world.run(tr.do).status
	tr.new = tr.see()
}

// testMissing removes the empty directories of the ledger, as git and rsync do when they copy it: all
// of them, and each alone. The subject does not notice.
func testMissing(t *testing.T, bin string) {
	each(t, bin, func(tr *trial) {
		tr.reset(tr.t)
		dirs := emptyDirectories(tr.ledger())
		sets := [][]string{dirs}
		for _, dir := range dirs {
			sets = append(sets, []string{dir})
		}
		for _, set := range sets {
			tr.reset(tr.t)
			for _, dir := range set {
				if err := os.RemoveAll(dir); err != nil {
					tr.t.Fatal(err)
				}
			}
			got := tr.world.run(tr.do)
			if now := tr.see(); got.status != tr.status || !now.equal(tr.new) {
				tr.t.Errorf("without %q: %v, want status %d\n%s", set, got, tr.status,
					now.differences(tr.new))
			}
		}
	})
}

// emptyDirectories returns the directories below dir that contain nothing but such directories, the
// deepest first.
func emptyDirectories(dir string) (empty []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != dir && !holdsFiles(path) {
			empty = append(empty, path)
		}
		return nil
	})
	slices.Reverse(empty)
	return empty
}

func holdsFiles(dir string) bool {
	found := errors.New("found")
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			return found
		}
		return nil
	}) != nil
}

// testUnread gives the subject a pipe for its messages that is full, and that nobody reads. It does
// not wait for a reader.
func testUnread(t *testing.T, bin string) {
	each(t, bin, func(tr *trial) {
		reader, full, err := os.Pipe()
		if err != nil {
			tr.t.Fatal(err)
		}
		defer reader.Close()
		defer full.Close()
		fill(tr.t, full)

		tr.reset(tr.t)
		ctx, cancel := deadline()
		defer cancel()
		cmd := tr.command(ctx, tr.do)
		cmd.Stderr = full
		got := runCommand(ctx, cmd)
		if now := tr.see(); got.status != tr.status || !now.equal(tr.new) {
			tr.t.Errorf("unread: %v, want status %d\n%s", got, tr.status, now.differences(tr.new))
		}
	})
}

// fill writes to a pipe until it has no room.
func fill(t *testing.T, pipe *os.File) {
	fd := int(pipe.Fd())
	err := unix.SetNonblock(fd, true)
	for err == nil {
		_, err = unix.Write(fd, make([]byte, 1))
	}
	if err != unix.EAGAIN {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// A descriptorLimit is how many files a process may open.
type descriptorLimit int

func (l descriptorLimit) String() string {
	return "no more than " + strconv.Itoa(int(l)) + " more open files"
}

// testDescriptors lets the subject open too few files, because its caller has left others open, and
// then more, until they are enough.
func testDescriptors(t *testing.T, bin string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	choose := chooser(t)
	each(t, bin, func(tr *trial) {
		step := 1
		if !rig.Soak() {
			step = 5
		}
		limit := runtimeDescriptors + choose.IntN(step)
		for limit < 64 && tr.limited(descriptorLimit(limit), self, "files", limit) {
			limit += step
		}
		if limit >= 64 {
			tr.t.Error("64 more open files are too few")
		}
	})
}

// runtimeDescriptors are as many as the runtime of Go needs: two files of the cgroup, and two for its
// first timer. With fewer it exits with a trace, before a command has begun.
const runtimeDescriptors = 4
