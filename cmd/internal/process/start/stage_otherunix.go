//go:build unix && !linux

package start

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

// closeOnExec marks the descriptors above 2 close-on-exec that /dev/fd shows: on some systems none.
func closeOnExec() error {
	return closeListedOnExec("/dev/fd")
}

// keep does nothing: there are no keepers.
func keep([]string) {}

// outliveKeeper does nothing: no other process ends this one.
func outliveKeeper() error { return nil }

// SpawnUnit always fails: there is no systemd.
func SpawnUnit(Command, Unit) (*Gate, error) {
	return nil, errors.New("units are systemd's, which runs on Linux only")
}
