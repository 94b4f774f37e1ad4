//go:build unix && !linux

package process

import (
	"errors"
	"os"
	"strconv"
)

func executable() (string, error) {
	return os.Executable()
}

// dial returns the stage's end of the gate: the descriptor.
func dial(address string) (*os.File, error) {
	fd, err := strconv.Atoi(address)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "gate"), nil
}

// seal marks the descriptors above 2 close-on-exec that /dev/fd shows: on some systems none.
func seal() error {
	return sealListed("/dev/fd")
}

// unblock does nothing here: blocked signals stay blocked.
func unblock() {}

// SpawnUnit always fails: there is no systemd.
func SpawnUnit(Start, Unit) (*Gate, error) {
	return nil, errors.New("units are systemd's, which runs on Linux only")
}
