package logs

import (
	"errors"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
)

// Shorten makes room on a full disk if the log is larger than limit (spec §11.8): it removes the
// rotated files above .1, and then cuts the beginning of the log, without a copy, so that at most limit
// is left. Where the file system cannot cut off the front of a file, it empties the log. It returns how
// many bytes it has taken from the log: 0 if another process rotates it.
func (g Log) Shorten(limit int64) (cut int64, err error) {
	if size, err := g.Size(); err != nil || size <= limit {
		return 0, err
	}
	file, release, err := g.take()
	if errors.Is(err, disk.ErrBusy) || errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer release()

	r := rotation{Log: g, file: file, Rule: Rule{Keep: 1}}
	err = errors.Join(r.settle(), r.removeOld())
	info, statErr := file.Stat()
	if statErr != nil || info.Size <= limit {
		return 0, errors.Join(err, statErr)
	}

	cut = min((info.Size-limit+disk.CutUnit-1)/disk.CutUnit, (info.Size-1)/disk.CutUnit) * disk.CutUnit
	cutErr := errors.ErrUnsupported
	if cut > 0 {
		cutErr = file.Cut(cut)
	}
	if errors.Is(cutErr, errors.ErrUnsupported) {
		cut, cutErr = info.Size, file.Truncate(0)
	}
	if cutErr != nil {
		cut = 0
	}
	return cut, errors.Join(err, cutErr)
}

// removeOld removes the rotated files above Keep.
func (r *rotation) removeOld() error {
	files, err := r.listed()
	for _, file := range files {
		if file.number > r.Keep {
			err = errors.Join(err, r.FS.RemoveIfThere(file.path))
		}
	}
	return err
}
