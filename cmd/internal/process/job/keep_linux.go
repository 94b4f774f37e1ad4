package job

import (
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// A keeper is a second process beside the runner of a job. When the runner dies, even of SIGKILL,
// the keeper ends the rest of the job.
//
// It is parked, in a session of its own. Its stdin is one end of a socket that only the runner
// writes to. When the runner dies, the keeper executes this very executable, and reads the handle
// of the group from the socket.
//
// The keeper exists before the job. It ends the group, and all processes with the random id of the
// job in their environment. These are the processes that have left the group, or all of them if the
// runner dies before it has sent the handle or the kernel has none (before 6.9).
const (
	keeperName = "dpl-keeper"
	keeperFlag = "--dpl-keeper"
)

// Keep returns at once unless this process is a keeper, which NewKeeper starts from the caller's
// own executable. The main function must call it first: it also notes which children this process
// already has, which are part of no job (see Strays).
//
// A keeper whose runner has died ends the job. Then, if the runner has left a note by Tell, it calls
// after with the note and the descriptors that it holds; until that returns they stay open.
func Keep(after func(note []byte, held []int)) {
	if len(os.Args) != 6 || os.Args[0] != keeperName || os.Args[1] != keeperFlag {
		findForeign()
		return
	}

	// these are meant for the processes that it ends
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	process.UnblockSignals()
	killAfter, invalid := time.ParseDuration(os.Args[2])
	session, err := strconv.Atoi(os.Args[3])
	if invalid != nil || err != nil {
		os.Exit(2)
	}

	note, g := receive()

	finish(func(sig syscall.Signal) (any, doubt bool) {
		any, doubt = process.SignalMarked(os.Args[4], session, sig)
		if g != nil && g.send(sig) != unix.ESRCH {
			any = any || g.lives()
		}
		return any, doubt
	}, killAfter)

	if note != nil {
		after(note, heldIn(os.Args[5]))
	}
	os.Exit(0)
}

// heldIn returns the descriptors in text, which park has left open.
func heldIn(text string) (held []int) {
	for word := range strings.FieldsSeq(text) {
		if fd, err := strconv.Atoi(word); err == nil {
			unix.CloseOnExec(fd)
			held = append(held, fd)
		}
	}
	return held
}

// receive returns what the runner has sent by the time that it is dead: a note, or nil, and a handle
// on the group, or nil.
func receive() (note []byte, g *group) {
	text, control := make([]byte, mostNote), make([]byte, unix.CmsgSpace(4))
	for {
		n, controls, _, _, err := unix.Recvmsg(0, text, control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECONNRESET: // it has not read that this process was ready; the note follows
			continue
		case err != nil || n == 0:
			return note, g
		}

		messages, _ := unix.ParseSocketControlMessage(control[:controls])
		if len(messages) == 0 {
			note = slices.Clone(text[:n])
			continue
		}
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			g = &group{handle: fds[0]}
		}
	}
}

// mostNote is above the length of any note: paths and ids are limited.
const mostNote = 64 << 10

// finish ends the rest of a job by TERM, and by KILL if any of it is left after killAfter. signal
// sends a signal to all of the rest. any reports whether there is, or may be, any of it left; doubt
// reports whether some processes got no signal because it is not yet known whether they belong to
// the job.
func finish(signal func(sig syscall.Signal) (any, doubt bool), killAfter time.Duration) {
	const pause = 20 * time.Millisecond
	if any, _ := signal(unix.SIGTERM); any {
		signal(unix.SIGCONT)
	}
	until := time.Now().Add(killAfter)

	for wait := pause; time.Now().Before(until); wait = min(2*wait, 10*pause) {
		if any, _ := signal(0); !any {
			return
		}
		time.Sleep(min(wait, time.Until(until)))
	}

	for tries := 1; tries <= 5; tries++ { // without a handle, a process that forks may be missed
		any, doubt := signal(unix.SIGKILL)
		if !any {
			return
		}
		if doubt {
			tries = 0
		}
		time.Sleep(pause)
	}
}
