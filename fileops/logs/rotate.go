package logs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// A Rule says when a log is rotated, and how.
type Rule struct {
	Limit int64 // it is rotated if it is larger, in bytes; 0: its size does not matter
	Due   bool  // it is rotated whatever its size, unless it is empty
	Keep  int   // how many rotated files are kept, at least 1

	Compress bool // all rotated files except .1 are compressed
}

// wants reports whether a log of this size is rotated.
func (r Rule) wants(size int64) bool {
	return r.Limit > 0 && size > r.Limit || r.Due && size > 0
}

// Rotate rotates the log if rule says so. The beginning of the log becomes the file .1, the old .1
// becomes .2, and so on. It returns false, and does nothing, if the rule does not, or if another
// pass is rotating the log.
//
// If the log is larger than all these files together should be, it drops the beginning of the log.
//
// The service keeps its open file and appends to it in the meantime. If the file system can cut off
// the front of a file (ext4, XFS), nothing is lost even if any process is killed at any time: the
// files .2, .1 and the log together are what was written. On other file systems the log is
// truncated, and lines written between the last read and that are lost. So is a log that is too
// small for a cut.
//
// After taking the lock on the log it copies the beginning to a temporary file, syncs it, renames
// it to .next, and syncs the directory; then it cuts the log; then .1 becomes .2, and .next becomes
// .1. A .next that exists at the start was left by a dead pass. If the log begins with its content,
// the log was not cut, and .next is removed; otherwise it becomes .1.
//
// At last it compresses files if rule says so, also if it only has to finish what a dead pass has
// begun. It returns true and an error if the log was cut, and its files could not all be renamed or
// compressed: the next rotation does the rest.
func (g Log) Rotate(rule Rule) (bool, error) {
	size, err := g.Size()
	if err != nil {
		return false, err
	}
	left := g.FS.Exists(layout.NextLogOf(g.Path)) || g.FS.Exists(layout.NextCompressedOf(g.Path))
	if !rule.wants(size) && !left {
		return false, nil
	}

	file, release, err := g.take()
	if errors.Is(err, disk.ErrBusy) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer release()

	r := rotation{Log: g, file: file, Rule: rule}

	rotated, err := r.rotate()
	if err == nil && rule.Compress {
		err = r.compress()
	}
	return rotated, err
}

// A rotation is a call of Rotate that has the lock.
type rotation struct {
	Log
	Rule
	file disk.File
}

func (r *rotation) rotate() (bool, error) {
	if err := r.settle(); err != nil {
		return false, err
	}

	info, err := r.file.Stat()
	if err != nil || !r.wants(info.Size) {
		return false, err
	}

	if err := r.drop(&info.Size); err != nil {
		return false, err
	}

	cut := (info.Size - 1) / disk.CutUnit * disk.CutUnit
	if err := r.copy(cut); err != nil {
		return false, err
	}

	err = errors.ErrUnsupported
	if cut > 0 {
		err = r.file.Cut(cut)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = r.truncate(cut)
	}
	if err != nil {
		return false, err // the next pass finds out what is done
	}

	return true, r.shift()
}

// drop cuts off everything beyond the total size of the kept files, so that a log that has grown
// huge between two passes is not copied completely. size is the size of the log.
func (r *rotation) drop(size *int64) error {
	if r.Limit == 0 || int64(r.Keep) >= *size {
		return nil
	}

	files := int64(r.Keep) + 1
	excess := max(*size/files-r.Limit, 0) * files / disk.CutUnit * disk.CutUnit
	if excess == 0 {
		return nil
	}

	err := r.file.Cut(excess)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil {
		*size -= excess
	}

	return err
}

// settle finishes the rotation of a dead pass, and removes its temporary files.
func (r *rotation) settle() error {
	dir, name := filepath.Split(layout.NextLogOf(r.Path))
	names, err := r.FS.Entries(dir)
	if err == nil {
		err = r.FS.RemoveIfThere(layout.NextCompressedOf(r.Path))
	}
	if err != nil {
		return err
	}

	left := false
	for _, other := range names {
		if layout.IsTemp(other, name) {
			err = errors.Join(err, r.FS.RemoveIfThere(filepath.Join(dir, other)))
		}
		left = left || other == name
	}

	if err != nil || !left {
		return err
	}

	next, err := r.FS.Open(layout.NextLogOf(r.Path))
	if err != nil {
		return err
	}

	uncut, err := begins(r.file, next)
	r.Leftover(next.Close())
	switch {
	case err != nil:
		return err
	case uncut:
		return r.FS.RemoveIfThere(layout.NextLogOf(r.Path))
	}

	return r.shift()
}

// begins reports whether log begins with the content of next.
func begins(log, next disk.File) (bool, error) {
	a, b := make([]byte, disk.CutUnit), make([]byte, disk.CutUnit)
	for at := int64(0); ; {
		n, err := next.ReadAt(a, at)
		if err != nil && err != io.EOF {
			return false, err
		}

		m, logErr := log.ReadAt(b[:n], at)
		if logErr != nil && logErr != io.EOF {
			return false, logErr
		}
		if m < n || !bytes.Equal(a[:n], b[:n]) {
			return false, nil
		}
		if at += int64(n); err == io.EOF {
			return true, nil
		}
	}
}

// copy copies the first size bytes of the log to .next.
func (r *rotation) copy(size int64) error {
	err := r.FS.WriteOver(layout.NextLogOf(r.Path), func(to disk.File) error {
		if _, err := io.Copy(to, io.NewSectionReader(r.file, 0, size)); err != nil {
			return err
		}
		return r.FS.SyncFile(to)
	})
	if err != nil {
		return err
	}
	return r.FS.SyncDir(filepath.Dir(r.Path))
}

// truncate empties the log, after copying the rest of it to .next, which has the first copied
// bytes. Nothing keeps the service from writing between the last read and the truncation.
func (r *rotation) truncate(copied int64) error {
	next, err := r.FS.OpenAppend(layout.NextLogOf(r.Path))
	if err != nil {
		return err
	}

	copied, err = r.drain(next, copied)
	if err == nil {
		// syncing takes time; what is written in the meantime is drained after it
		err = r.FS.SyncFile(next)
	}
	if err == nil {
		_, err = r.drain(next, copied)
	}
	if err == nil {
		err = r.file.Truncate(0)
	}
	if err == nil {
		err = r.FS.SyncFile(next)
	}

	return errors.Join(err, next.Close())
}

// drain appends the log from an offset on to next, and returns the new offset: the end of the log,
// or some megabytes further, because a service may write as fast as this reads.
func (r *rotation) drain(next disk.File, from int64) (int64, error) {
	chunk := make([]byte, disk.CutUnit)
	for range 256 {
		n, err := r.file.ReadAt(chunk, from)
		if err != nil && err != io.EOF {
			return from, err
		}
		if _, err := next.Write(chunk[:n]); err != nil {
			return from, err
		}
		if from += int64(n); err == io.EOF {
			break
		}
	}

	return from, nil
}

// shift makes .next the file .1. Before that, .1 becomes .2 and so on, and the files that would get
// a number above Keep are removed, the oldest first. One killed at any moment leaves the files in
// their order, and the next shift moves only those that are still in the way.
func (r *rotation) shift() error {
	listed, err := r.listed()
	if err != nil {
		return err
	}

	var files []part
	var left error // a file that cannot be removed is tried again by the next rotation
	for _, file := range listed {
		info, err := r.FS.Lstat(file.path)
		if err != nil {
			return err
		}
		file.id = identity(info)
		kept, err := r.add(files, file)
		if err != nil {
			return err
		}
		if len(kept) == len(files) { // a compression was killed before it removed the plain file
			left = errors.Join(left, r.FS.RemoveIfThere(file.path))
		}
		files = kept
	}

	to := room(files, r.Keep)
	for i, file := range slices.Backward(files) {
		switch {
		case to[i] == 0:
			left = errors.Join(left, r.FS.RemoveIfThere(file.path))
			continue
		case to[i] == file.number:
			continue
		}
		if err := r.FS.Replace(file.path, r.part(to[i], file.compressed).path); err != nil {
			return errors.Join(left, err)
		}
	}

	return errors.Join(left, r.FS.Replace(layout.NextLogOf(r.Path), r.part(1, false).path))
}
