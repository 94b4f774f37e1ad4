package run

import (
	"errors"
	"io/fs"
	"os"
)

// readAgain returns an error if a second attempt could not read what the first one reads from
// stdin.
func readAgain(stdin *os.File) error {
	if info, err := stdin.Stat(); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return errors.New("stdin is a pipe, which only one attempt can read")
	}
	return nil
}
