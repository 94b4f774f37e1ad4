//go:build unix && !linux

package start

import (
	"errors"
	"os"
	"syscall"
)

func executable() (string, error) {
	return os.Executable()
}

// closeOnExec marks the descriptors above 2 listed in /dev/fd close-on-exec. Some systems list
// none.
func closeOnExec() error {
	return closeListedOnExec("/dev/fd")
}

// These flags are for keepers.
const (
	endFlag  = "--dpl-end"
	unitFlag = "--dpl-unit1"
)

// preflightAttr makes a process the leader of its process group.
func preflightAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// keep does nothing: there are no keepers.
func keep(_, _ []string) {}

// end does nothing: there are no keepers.
func end(_, _ string) {}

// becomeKeeper does nothing: there are no keepers.
func becomeKeeper(string) {}

// setOOMScoreAdj returns an error: there is no such value.
func setOOMScoreAdj(int) error { return errors.ErrUnsupported }

// outliveKeeper does nothing: this process does not depend on another.
func outliveKeeper() error { return nil }

// SpawnUnit always returns an error: there is no systemd.
func SpawnUnit(Command, Unit) (*Gate, error) {
	return nil, errors.New("units are systemd's, which runs on Linux only")
}
