package logs

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// A part is a file that was rotated out of the log. Two parts with one number are from a pass that
// does not know compressed files: then the compressed one is older.
type part struct {
	number     int
	compressed bool
	path       string
	id         string // see identity
}

func (g Log) part(number int, compressed bool) part {
	path := layout.RotatedLogOf(g.Path, number)
	if compressed {
		path = layout.CompressedLogOf(g.Path, number)
	}
	return part{number: number, compressed: compressed, path: path}
}

// parts are the files that were rotated out of a log, the newest first.
type parts struct {
	files []part
	own   int // how many are newer than the log itself, if that has the name of a rotated file; -1
}

// newest returns which file was rotated last; "": none.
func newest(files []part) (id string) {
	if len(files) > 0 {
		id = files[0].id
	}
	return id
}

// mostMissing is how many numbers in a row may have no file: a killed rotation leaves one free.
const mostMissing = 1

// rotated looks for the files that were rotated out of the log. The file that the holder has open
// is the log, even if it was renamed to the name of a rotated one.
func (g Log) rotated() (p parts, err error) {
	p.own = -1
	for n, missing := 1, 0; missing <= mostMissing; n++ {
		missing++
		for _, file := range []part{g.part(n, false), g.part(n, true)} {
			info, err := g.FS.Lstat(file.path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return p, err
			}
			missing, file.id = 0, identity(info)

			var held disk.Held
			if g.Holder.is(info.ID) {
				if held, err = g.held(); err != nil {
					return p, err
				}
			}
			if held != nil {
				p.own = len(p.files)
				held.Close()
				continue
			}
			if p.files, err = g.add(p.files, file); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// listed lists the files that were rotated out of the log, the newest first, without their ids.
func (g Log) listed() (files []part, err error) {
	dir, log := filepath.Split(g.Path)
	names, err := g.FS.Entries(dir)
	for _, name := range names {
		if n, compressed, ok := layout.RotatedLog(log, name); ok {
			files = append(files, g.part(n, compressed))
		}
	}
	slices.SortFunc(files, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(len(a.path), len(b.path)))
	})
	return files, err
}

// add appends the next older file, unless it is the compressed copy of the last one.
func (g Log) add(files []part, file part) ([]part, error) {
	if last := len(files) - 1; file.compressed && last >= 0 && !files[last].compressed &&
		files[last].number == file.number {
		if origin, err := g.origin(file); err != nil || origin == files[last].id {
			return files, err
		}
	}
	return append(files, file), nil
}

// room returns which number each file gets, so that the number 1 is free: a file moves only if the
// one before it needs its number. 0 means that it would get a number above keep.
func room(files []part, keep int) []int {
	to, last := make([]int, len(files)), 1
	for i, file := range files {
		if file.number <= keep && last < keep {
			last = max(file.number, last+1)
			to[i] = last
		}
	}
	return to
}
