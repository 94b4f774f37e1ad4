//go:build unix

package start

import (
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
	"golang.org/x/sys/unix"
)

// A record is the open exit record of a start (spec §19.2). Its file was reserved before, and all
// writes keep its size, so they need no room on the disk.
type record struct {
	group.ExitRecord
	dir, file int
	name      string
}

// openRecord opens the record at path, LEDGER/exits/GROUP/NAME.
func openRecord(path string) (*record, error) {
	dir, name, err := openParent(path)
	if err != nil {
		return nil, err
	}

	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	r := &record{dir: dir, name: name}
	if r.file, err = unix.Openat(dir, name, flags, 0); err != nil {
		unix.Close(dir)
		return nil, err
	}

	text := make([]byte, group.ExitRecordSize)
	n, err := unix.Pread(r.file, text, 0)
	if err == nil {
		r.ExitRecord, err = group.DecodeExitRecord(string(text[:n]))
	}
	if err != nil {
		r.close()
		return nil, err
	}

	return r, nil
}

// write writes the record in one call, so that a process that is killed leaves it as it was or as
// it is now.
func (r *record) write() error {
	text := []byte(r.Encode())
	n, err := unix.Pwrite(r.file, text, 0)
	if err == nil && n < len(text) {
		err = unix.EIO
	}
	return err
}

func (r *record) close() {
	unix.Close(r.file)
	unix.Close(r.dir)
}

// begin records that the command is about to be executed.
func (s Command) begin() error {
	return s.note(func(r *record) { r.Phase = group.PhaseExec })
}

// ended records why the command was not executed.
func (s Command) ended(exit policy.Exit) {
	exit.At = wire.Moment(time.Now())
	// The pass is told as well, unless it has died or did not wait. Then this start counts as lost.
	_ = s.note(func(r *record) { r.Phase, r.End = group.PhaseEnded, exit })
}

// note changes the record of s, if it has one.
func (s Command) note(change func(r *record)) error {
	if s.Record == "" {
		return nil
	}

	r, err := openRecord(s.Record)
	if err == nil {
		change(r)
		err = r.write()
		r.close()
	}
	return os.NewSyscallError("exit record", err)
}

// openParent opens the directory of path, which is LEDGER/KIND/GROUP/NAME, and returns NAME. It
// follows no symbolic link below the ledger, because a member of a shared ledger's group may
// replace a directory after the pass has created the file.
func openParent(path string) (dir int, name string, err error) {
	const flags = unix.O_DIRECTORY | unix.O_CLOEXEC
	inner := filepath.Dir(path)
	outer := filepath.Dir(inner)
	dir, err = unix.Open(filepath.Dir(outer), flags, 0)

	for _, below := range []string{filepath.Base(outer), filepath.Base(inner)} {
		if err != nil {
			return -1, "", err
		}
		above := dir
		dir, err = unix.Openat(above, below, flags|unix.O_NOFOLLOW, 0)
		unix.Close(above)
	}

	return dir, filepath.Base(path), err
}
