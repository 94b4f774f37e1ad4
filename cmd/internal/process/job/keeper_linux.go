package job

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// A Keeper is the keeper of one job, as its runner sees it.
type Keeper struct {
	id     string // of the job: see StartVariable
	socket int    // the other end is the keeper's stdin
	err    error  // why there is no keeper

	mu    sync.Mutex
	pid   int  // 0 if there is none, or it has ended
	holds bool // it holds descriptors until Let or Dismiss
}

// NewKeeper starts the keeper of a job that has not begun, and does not wait for it. The processes
// of the job will carry id, which is from process.NewStartID. If it cannot, for example without
// /proc, the job runs without a keeper. The caller must pass it to Start, or dismiss it.
//
// The keeper holds the descriptors in held, which are open in this process: they stay open until it
// has ended. If there are any, the end of the job does not end it, but Let or Dismiss does.
func NewKeeper(id string, killAfter time.Duration, held ...int) *Keeper {
	k := &Keeper{id: id, holds: len(held) > 0}
	if k.err = k.start(killAfter, held); k.err != nil {
		k.err = fmt.Errorf("start keeper: %w", k.err)
	}
	return k
}

// PID returns the process of the keeper, or 0 if there is none.
func (k *Keeper) PID() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pid
}

func (k *Keeper) start(killAfter time.Duration, held []int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	defer unix.Close(pair[0])

	session, err := unix.Getsid(0)
	if err != nil {
		return os.NewSyscallError("getsid", err)
	}

	kept, err := above(held)
	if err != nil {
		unix.Close(pair[1])
		return err
	}
	defer closeAbove(kept, held)

	argv := []string{keeperName, keeperFlag, killAfter.String(), strconv.Itoa(session), k.id,
		strings.Trim(fmt.Sprint(kept), "[]")}
	if k.pid, err = park(pair[0], kept, argv, process.KeeperVariable+"="+k.id); err != nil {
		k.pid = 0
		unix.Close(pair[1])
		return err
	}

	k.socket = pair[1]

	return nil
}

// above returns held with copies in the place of 0 and 1, which a parked process uses itself.
func above(held []int) ([]int, error) {
	kept := slices.Clone(held)
	for i, fd := range held {
		if fd > 2 {
			continue
		}
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			closeAbove(kept[:i], held)
			return nil, os.NewSyscallError("fcntl", err)
		}
		kept[i] = copied
	}
	return kept, nil
}

// closeAbove closes the copies that above has made.
func closeAbove(kept, held []int) {
	for i, fd := range kept {
		if fd != held[i] {
			unix.Close(fd)
		}
	}
}

// Tell gives the keeper a note for what it does once it has ended the job (see Keep), in the place of
// an earlier one. A nil note changes nothing. It is called before Start.
func (k *Keeper) Tell(note []byte) {
	if k.pid != 0 && note != nil {
		unix.Sendmsg(k.socket, note, nil, nil, 0) // after an error there is no note
	}
}

// mark returns env with the entry by which the keeper recognizes the job's processes, before any
// older ids.
func (k *Keeper) mark(env []string) []string {
	const prefix = process.StartVariable + "="
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

// await returns when the keeper has a session of its own, and so survives whatever kills the
// runner's group.
func (k *Keeper) await() {
	for k.pid != 0 {
		if _, err := unix.Read(k.socket, make([]byte, 1)); err != unix.EINTR {
			return
		}
	}
}

// keep sends the keeper a handle on its group, if there is one.
func (k *Keeper) keep(g group) {
	if k.pid != 0 && g.handle >= 0 {
		// After an error the keeper still has the marks.
		unix.Sendmsg(k.socket, []byte{0}, unix.UnixRights(g.handle), nil, 0)
	}
}

// number returns the pid of the keeper, or 0.
func (k *Keeper) number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pid
}

// release kills the keeper, which has nothing left to end, unless it holds descriptors. It stays a
// zombie until it is dismissed.
func (k *Keeper) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pid != 0 && !k.holds {
		unix.Kill(k.pid, unix.SIGKILL)
	}
}

// Let ends the keeper once the job has ended, although it holds descriptors. It does not wait.
func (k *Keeper) Let() {
	k.mu.Lock()
	k.holds = false
	k.mu.Unlock()
	k.release()
}

// Dismiss ends the keeper, without ending the job.
func (k *Keeper) Dismiss() {
	k.Let()
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

// leave is Dismiss, unless the keeper holds descriptors.
func (k *Keeper) leave() {
	k.mu.Lock()
	holds := k.holds
	k.mu.Unlock()
	if !holds {
		k.Dismiss()
	}
}
