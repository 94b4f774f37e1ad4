//go:build unix && !linux

package start

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

func executable() (string, error) {
	return os.Executable()
}

// dial returns the stage's end of the gate, a descriptor.
func dial(address string) (*os.File, error) {
	fd, err := strconv.Atoi(address)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "gate"), nil
}

// closeOnExec marks the descriptors above 2 listed in /dev/fd close-on-exec. Some systems list
// none.
func closeOnExec() error {
	return closeListedOnExec("/dev/fd")
}

// endFlag is for keepers.
const endFlag = "--dpl-end"

// preflightAttr makes a process the leader of its process group.
func preflightAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// keep does nothing: there are no keepers.
func keep(_, _ []string) {}

// end does nothing: there are no keepers.
func end(_, _ string) {}

// outliveKeeper does nothing: this process does not depend on another.
func outliveKeeper() error { return nil }

// SpawnUnit always returns an error: there is no systemd.
func SpawnUnit(Command, Unit) (*Gate, error) {
	return nil, errors.New("units are systemd's, which runs on Linux only")
}
