package process

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is a second process beside the one that runs a job. When the latter dies, be it of SIGKILL, the keeper ends what
// is left of the job. It is this very executable, in a session of its own, with the end of a socket that only the runner
// writes to as its stdin, over which it gets the handle of the group.
//
// It is there before the job. So if the runner dies before it has sent the handle, or where the kernel has none (before
// 6.9), it ends the processes of the runner's session that carry the marks of the job in their environment instead.
const (
	keeperName = "dpl-keeper"
	keeperFlag = "--dpl-keeper"
)

// Keep returns at once unless this process is a keeper, which StartJob makes of the caller's own executable. Main calls it
// before anything else.
func Keep() {
	if len(os.Args) < 4 || os.Args[0] != keeperName || os.Args[1] != keeperFlag {
		return
	}
	closeInherited()
	killAfter, invalid := time.ParseDuration(os.Args[2])
	session, err := strconv.Atoi(os.Args[3])
	if invalid != nil || err != nil {
		os.Exit(2)
	}
	var left remainder = carriers{session, os.Args[4:]}
	if g, ok := receiveGroup(); ok {
		left = g
		os.Stdin.Read(make([]byte, 1)) // until the runner is dead
	}
	finish(left, killAfter)
	os.Exit(0)
}

// closeInherited closes what the runner's parent left open, such as a lock. What this process has opened is close-on-exec.
func closeInherited() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// receiveGroup reports false if the runner dies before it has sent one.
func receiveGroup() (g *group, ok bool) {
	control := make([]byte, unix.CmsgSpace(4))
	for {
		_, n, _, _, err := unix.Recvmsg(0, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		messages, _ := unix.ParseSocketControlMessage(control[:n])
		if err != nil || len(messages) != 1 {
			return nil, false
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil || len(fds) != 1 {
			return nil, false
		}
		return &group{handle: fds[0]}, true
	}
}

// A remainder is what is left of a job. signal sends sig to all of it, and reports whether there is any or may be any, and
// whether there is some that did not get it because it cannot be told yet.
type remainder interface {
	signal(sig syscall.Signal) (any, doubt bool)
}

func (g *group) signal(sig syscall.Signal) (any, doubt bool) { return g.send(sig) != unix.ESRCH, false }

// carriers are the processes of a session that carry marks in the environment that they were given.
type carriers struct {
	session int
	marks   []string
}

func (c carriers) signal(sig syscall.Signal) (any, doubt bool) {
	proc, err := os.Open("/proc")
	if err != nil || len(c.marks) == 0 {
		return false, false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	until := time.Now().Add(execPatience)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !inSession(pid, c.session) {
			continue
		}
		w, err := Watch(pid)
		if err != nil {
			continue
		}
		if inSession(pid, c.session) {
			switch carried, certain := carries(pid, c.marks, until); {
			case carried: // so the handle is on it
				any = w.Signal(sig) == nil || any
			case !certain:
				any, doubt = true, true
			}
		}
		w.Close()
	}
	return any, doubt
}

// finish ends what is left: TERM, and KILL if there is any after killAfter.
func finish(left remainder, killAfter time.Duration) {
	const pause = 20 * time.Millisecond
	left.signal(unix.SIGTERM)
	left.signal(unix.SIGCONT)
	for until := time.Now().Add(killAfter); time.Now().Before(until); time.Sleep(min(pause, time.Until(until))) {
		if any, _ := left.signal(0); !any {
			return
		}
	}
	for tries := 1; tries <= 5; tries++ { // one that forks meanwhile may be missed where there is no handle
		any, doubt := left.signal(unix.SIGKILL)
		if !any {
			return
		}
		if doubt {
			tries = 0
		}
		time.Sleep(pause)
	}
}

// keeper is a keeper as its runner knows it.
type keeper struct {
	pid    int
	socket int // whose other end is its stdin
}

// newKeeper starts a keeper of a job that is yet to begin, and whose processes will carry marks.
func newKeeper(killAfter time.Duration, marks []string) (*keeper, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, os.NewSyscallError("getsid", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])
	argv := append([]string{keeperName, keeperFlag, killAfter.String(), strconv.Itoa(session)}, marks...)
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(null)
		var pid int
		pid, _, err = syscall.StartProcess("/proc/self/exe", argv, &syscall.ProcAttr{
			Dir:   "/",
			Files: []uintptr{uintptr(pair[0]), uintptr(null), uintptr(null)},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
		if err == nil {
			return &keeper{pid, pair[1]}, nil
		}
	}
	unix.Close(pair[1])
	return nil, fmt.Errorf("start keeper: %w", err)
}

// keep gives the keeper its group, if there is a handle of it.
func (k *keeper) keep(g group) {
	if k != nil && g.handle >= 0 {
		unix.Sendmsg(k.socket, []byte{0}, unix.UnixRights(g.handle), nil, 0) // an error leaves it the marks
	}
}

// dismiss ends the keeper, which ends nobody.
func (k *keeper) dismiss() {
	if k == nil {
		return
	}
	unix.Kill(k.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(k.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	unix.Close(k.socket)
}
