//go:build unix

package attempt

import (
	"os"

	"golang.org/x/sys/unix"
)

// redirect makes the log of the attempt the output of this process, and so of the command, and
// gives it no input. What dpl-work says itself still goes to where stderr was.
func (a *attempt) redirect() error {
	log, err := os.OpenFile(a.log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	none, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer none.Close()

	own, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	a.Env.MoveMessages(os.NewFile(uintptr(own), "stderr"))

	for to, from := range []*os.File{none, log, log} {
		if err := unix.Dup2(int(from.Fd()), to); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	return nil
}

// redirect makes in and out the input and output of this process, and so of the next command. Its
// stderr is still the log.
func redirect(in, out *os.File) error {
	for to, from := range []*os.File{in, out} {
		if err := unix.Dup2(int(from.Fd()), to); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	return nil
}
