package job

import (
	"errors"
	"os"
)

// Inherited always fails: no descriptors are handed on by number on Windows.
func Inherited(int) (*os.File, error) {
	return nil, errors.New("not supported on Windows")
}
