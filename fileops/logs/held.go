package logs

import (
	"errors"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Holder is the process that writes to a log, and the numbers of the file that it was started
// with (disk.FileID.Numbers). The zero Holder is none.
//
// A log is what its holder has open, wherever that is by now: somebody may have moved or deleted
// it. But a stdout that is another file is data of the service's own, and then the log is the file
// at its path.
type Holder struct {
	PID           int
	Device, Inode int64
}

func (h Holder) is(id disk.FileID) bool {
	device, inode := id.Numbers()
	return device == h.Device && inode == h.Inode
}

// held opens the log that its holder has open. It returns nil if there is none.
func (g Log) held() (disk.Held, error) {
	if g.Holder.Inode == 0 {
		return nil, nil
	}
	held, err := g.FS.OpenHeld(g.Holder.PID, g.Holder.is)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return held, err
}

// Named reports whether the file at Path is the one that the holder was started with.
func (g Log) Named() (bool, error) {
	named, err := g.FS.Lstat(g.Path)
	return err == nil && g.Holder.is(named.ID), trust.IgnoreMissing(err)
}

// Held reports whether the holder has the log open.
func (g Log) Held() (bool, error) {
	held, err := g.held()
	if held == nil || err != nil {
		return false, err
	}
	return true, held.Close()
}

// Lost returns where the log is by now, if its holder writes to a file that is no longer at Path.
// Of a file that was deleted it says so. It returns "" if nothing is lost.
func (g Log) Lost() (now string, err error) {
	if named, err := g.Named(); named || err != nil {
		return "", err
	}
	held, err := g.held()
	if held == nil || err != nil {
		return "", err
	}
	defer held.Close()
	return held.Name(), nil
}

// Gone reports whether nothing is left of the log: neither what its holder has open, nor the file
// at its path, nor one that was rotated out of it.
func (g Log) Gone() (bool, error) {
	for _, path := range []string{g.Path, layout.RotatedLogOf(g.Path, 1)} {
		f, _, err := g.open(path)
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return true, nil
}

// Size returns the size of the log; 0 if there is none.
func (g Log) Size() (int64, error) {
	held, err := g.held()
	if err != nil {
		return 0, err
	}
	if held == nil {
		info, err := g.FS.Lstat(g.Path)
		return info.Size, trust.IgnoreMissing(err)
	}
	defer held.Close()
	info, err := held.Stat()
	return info.Size, err
}

// take opens the log for a change, and locks it until release is called. It returns disk.ErrBusy if
// another process has it locked.
func (g Log) take() (file disk.File, release func(), err error) {
	held, err := g.held()
	if err != nil {
		return nil, nil, err
	}
	if held != nil {
		release = func() { g.Leftover(held.Close()) }
		if err = held.TryLock(); err != nil {
			release()
		}
		return held, release, err
	}

	lock, err := g.FS.TryLock(g.Path)
	if err != nil {
		return nil, nil, err
	}
	if file, err = g.FS.OpenAppend(g.Path); err != nil {
		g.Leftover(lock.Unlock())
		return nil, nil, err
	}
	return file, func() {
		g.Leftover(file.Close())
		g.Leftover(lock.Unlock())
	}, nil
}
