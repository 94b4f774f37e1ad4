//go:build unix && !linux

package disk

import (
	"errors"
	"io/fs"
)

// CreateUnnamed returns errors.ErrUnsupported.
func (OS) CreateUnnamed(string, fs.FileMode) (File, error) { return nil, errors.ErrUnsupported }

// Link is never called: no file is without a name.
func (*fdFile) Link(string) error { return errors.ErrUnsupported }
