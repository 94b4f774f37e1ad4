package job

import (
	"errors"
	"os"
)

// Inherited always returns an error: Windows has no descriptors inherited by number.
func Inherited(int) (*os.File, error) {
	return nil, errors.New("not supported on Windows")
}
