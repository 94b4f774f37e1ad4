package start

import (
	"errors"
	"math"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// executable returns the program of a stage: this very file, even if another file has its name by
// now.
func executable() (string, error) {
	return "/proc/self/exe", nil
}

var errNotOurs = errors.New("the other end is another user's")

// dial returns a connection to the abstract socket "@name": the gate, of the keeper of a unit. Any
// process may take that name once the pass is gone, so dial checks that its user is ours.
func dial(address string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: address}); err != nil {
		return nil, err
	}
	if _, err := peer(fd); err != nil {
		return nil, err
	}

	return os.NewFile(uintptr(fd), "gate"), nil
}

// peer returns the pid of the process at the other end of fd. It returns errNotOurs if another user
// runs it, or if its pid means nothing here.
func peer(fd int) (int, error) {
	credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	if int(credentials.Uid) != os.Geteuid() || !process.ValidPID(int(credentials.Pid)) {
		return 0, errNotOurs
	}
	return int(credentials.Pid), nil
}

// closeOnExec marks all descriptors above 2 close-on-exec. A service that inherited the descriptor
// of a lock would hold the lock for ever.
func closeOnExec() error {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	return closeListedOnExec("/proc/self/fd") // before Linux 5.11
}

// outliveKeeper makes this process survive its keeper from now on.
func outliveKeeper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0))
}
