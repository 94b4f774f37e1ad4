package process

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is a second process beside the one that runs a job. When the latter dies, be it of SIGKILL, the keeper ends what
// is left of the job. It is parked, in a session of its own, with the end of a socket that only the runner writes to as its
// stdin; when the runner dies it becomes this very executable, and reads from there the handle of the group.
//
// It is there before the job. It ends the group, and whatever carries the random id of the job in its environment: what has
// left the group, and all there is if the runner dies before it has sent the handle, or the kernel has none (before 6.9).
const (
	keeperName = "dpl-keeper"
	keeperFlag = "--dpl-keeper"
)

// Keep returns at once unless this process is a keeper, which NewKeeper makes of the caller's own executable. Main calls it
// before anything else.
func Keep() {
	if len(os.Args) != 5 || os.Args[0] != keeperName || os.Args[1] != keeperFlag {
		return
	}
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP) // meant for those that it ends
	unblock()
	killAfter, invalid := time.ParseDuration(os.Args[2])
	session, err := strconv.Atoi(os.Args[3])
	if invalid != nil || err != nil {
		os.Exit(2)
	}
	left := remainders{carriers{session, os.Args[4]}}
	if g, ok := receiveGroup(); ok {
		left = append(left, g)
		os.Stdin.Read(make([]byte, 1)) // until the runner is dead
	}
	finish(left, killAfter)
	os.Exit(0)
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

// remainders are all of several.
type remainders []remainder

func (all remainders) signal(sig syscall.Signal) (any, doubt bool) {
	for _, one := range all {
		there, unsure := one.signal(sig)
		any, doubt = any || there, doubt || unsure
	}
	return any, doubt
}

// carriers are the processes that carry the id of a job in the environment that they were given, in any session. One that
// shows none yet is taken for one of them in the session of the runner: elsewhere some process is always amid an execve.
type carriers struct {
	session int
	id      string
}

func (c carriers) signal(sig syscall.Signal) (any, doubt bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return false, false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	mark, until := []string{StartVariable + "=" + c.id}, time.Now().Add(execPatience)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		w, err := Watch(pid)
		if err != nil {
			continue
		}
		switch carried, certain := carries(pid, mark, until); {
		case carried: // so the handle is on it
			any = w.Signal(sig) == nil || any
		case !certain && inSession(pid, c.session):
			any, doubt = true, true
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
	until := time.Now().Add(killAfter)
	for wait := pause; time.Now().Before(until); wait = min(2*wait, 10*pause) {
		if any, _ := left.signal(0); !any {
			return
		}
		time.Sleep(min(wait, time.Until(until)))
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

// A Keeper is a keeper as its runner knows it, of one job.
type Keeper struct {
	id     string // of the job: see StartVariable
	socket int    // whose other end is its stdin
	err    error  // why there is none

	mu  sync.Mutex
	pid int // 0: there is none, or no more
}

// NewKeeper starts the keeper of a job that is yet to begin, and does not wait for it. Where none can be started, as without
// /proc, the job goes on without one. The caller gives it to StartJob, or dismisses it.
func NewKeeper(killAfter time.Duration) *Keeper {
	k := &Keeper{id: NewStartID()}
	if k.err = k.start(killAfter); k.err != nil {
		k.err = fmt.Errorf("start keeper: %w", k.err)
	}
	return k
}

func (k *Keeper) start(killAfter time.Duration) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])

	session, err := unix.Getsid(0)
	if err != nil {
		return os.NewSyscallError("getsid", err)
	}
	argv := []string{keeperName, keeperFlag, killAfter.String(), strconv.Itoa(session), k.id}
	if k.pid, err = park(pair[0], argv, KeeperVariable+"="+k.id); err != nil {
		k.pid = 0
		unix.Close(pair[1])
		return err
	}
	k.socket = pair[1]
	return nil
}

// mark returns env with the entry by which the keeper knows the job's processes, in front of what was there.
func (k *Keeper) mark(env []string) []string {
	const prefix = StartVariable + "="
	marked, ids := make([]string, 0, len(env)+1), k.id
	for _, entry := range env {
		if outer, ok := strings.CutPrefix(entry, prefix); ok && outer != "" {
			ids += "," + outer
		} else if !ok {
			marked = append(marked, entry)
		}
	}
	return append(marked, prefix+ids)
}

// await returns when the keeper has a session of its own, and so outlives what kills the runner's group.
func (k *Keeper) await() {
	for k.pid != 0 {
		if _, err := unix.Read(k.socket, make([]byte, 1)); err != unix.EINTR {
			return
		}
	}
}

// keep gives the keeper its group, if there is a handle of it.
func (k *Keeper) keep(g group) {
	if k.pid != 0 && g.handle >= 0 {
		unix.Sendmsg(k.socket, []byte{0}, unix.UnixRights(g.handle), nil, 0) // an error leaves it the marks
	}
}

// number returns the pid of the keeper, or 0.
func (k *Keeper) number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pid
}

// release kills the keeper, which has nobody left to end. It stays a zombie until it is dismissed.
func (k *Keeper) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pid != 0 {
		unix.Kill(k.pid, unix.SIGKILL)
	}
}

// Dismiss ends the keeper, which ends nobody.
func (k *Keeper) Dismiss() {
	k.release()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pid == 0 {
		return
	}
	for {
		if _, err := unix.Wait4(k.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	unix.Close(k.socket)
	k.pid = 0
}
