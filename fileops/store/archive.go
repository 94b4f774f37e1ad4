package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Newest returns the number of the newest existing copy, or 0 if there is none.
func Newest(fs *trust.FS, c layout.Copies) (int, error) {
	if c == (layout.Copies{}) {
		return 0, nil
	}

	names, err := fs.Entries(c.Dir())
	newest := 0
	for _, name := range names {
		if n, ok := c.Number(name); ok {
			newest = max(newest, n)
		}
	}

	return newest, err
}

// next returns the number of the next copy.
func next(fs *trust.FS, c layout.Copies) (int, error) {
	newest, err := Newest(fs, c)
	if newest == layout.MaxCopy {
		err = fmt.Errorf("%s: %w: no number follows its own: move it away", c.Path(newest),
			wire.ErrCorrupt)
	}
	return newest + 1, err
}

// moveTo makes the file at path copy n, or the next one if that exists.
func moveTo(files *trust.FS, c layout.Copies, n int, path string) error {
	for {
		err := files.Move(path, c.Path(n))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if n, err = next(files, c); err != nil {
			return err
		}
	}
}
