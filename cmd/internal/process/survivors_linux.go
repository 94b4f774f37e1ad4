package process

import (
	"fmt"
	"os"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// Survivors returns the processes of the start startID, in any session, that started no earlier
// than leader, its first process. These are the processes that were given startID (see
// StartVariable), and children of such a process or of keeper that show no start at all. So a
// process that clears its environment, or runs as another user, still belongs to the start. leader
// is included while it lives; zombies are not. Signal each with SignalProcess. Survivors returns
// none if leader has no identity here and now, or if startID is empty.
//
// Survivors also returns an error if it is uncertain about a process in the session of leader:
// because the process was in the middle of an execve, or of its end, throughout execPatience; or
// because it shows no start and its keeper has died, so nothing vouches for it. In other sessions
// an uncertain process counts as a stranger: on a busy machine some process is always in the middle
// of an execve. It also returns an error if keeper exists, which it does only while it has
// children, and none is found.
//
// It reads the directory /proc, the state of each process, and the environment of those that are
// young enough; but nothing if keeper has become this process: it did so when it had no child left.
func Survivors(
	leader observe.Process, startID string, keeper observe.Process,
) (found []observe.Process, doubt error) {
	if local(leader) != nil || startID == "" || isThis(keeper) {
		return nil, nil
	}

	until := time.Now().Add(execPatience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		s := search{
			leader: leader, keeper: keeper, id: startID, until: until,
			known: make(map[incarnation]membership),
		}

		found, doubt = s.survivors()
		switch {
		case len(found) > 0 || doubt != nil || !s.kept || s.others,
			Look(keeper) == observe.Gone:
			return found, doubt
		case time.Now().After(until):
			return nil, fmt.Errorf("process %d, the keeper, does not end", keeper.PID)
		}

		// The keeper is about to end, or it adopted a process during the search.
		time.Sleep(pause)
	}
}

// isThis reports whether p is this process.
func isThis(p observe.Process) bool {
	if p.PID != os.Getpid() {
		return false
	}
	this, err := Identify(p.PID)
	return err == nil && p.Is(this)
}

// A search looks for the processes of one start.
type search struct {
	leader, keeper observe.Process
	id             string
	until          time.Time
	kept, lost     bool // the keeper vouches; or it has died
	others         bool // the keeper has a child that belongs to another start
	known          map[incarnation]membership
}

// An incarnation tells a process from later ones with the same pid.
type incarnation struct {
	pid        int
	startTicks int64
}

// A membership says whether a process belongs to the start.
type membership int

const (
	stranger  membership = iota
	unmarked             // it shows no start, and its parent does not vouch for it
	member               // a random id vouches for it
	uncertain            // it shows no environment yet
)

// askKeeper finds out whether the keeper vouches.
func (s *search) askKeeper() {
	if local(s.keeper) != nil {
		return
	}
	carried, _ := carries(s.keeper.PID, KeeperVariable, s.id, s.until)

	// Ask after that: if the keeper has not exited, the answers for its pid are about the keeper.
	s.lost = Look(s.keeper) == observe.Gone
	s.kept = carried && !s.lost
}

func (s *search) survivors() (found []observe.Process, doubt error) {
	s.askKeeper()
	pids, _ := Numbers("/proc")
	for _, pid := range pids {
		switch p, is, unsure := s.survivor(pid); {
		case is:
			found = append(found, p)
		case unsure != nil:
			doubt = unsure
		}
	}

	return found, doubt
}

// survivor returns the process pid and whether it is a survivor, or an error if that is uncertain.
func (s *search) survivor(pid int) (p observe.Process, is bool, doubt error) {
	p, err := Identify(pid)
	if err != nil || p.StartTicks < s.leader.StartTicks || s.kept && p.Is(s.keeper) {
		return p, false, nil
	}

	found := s.membership(pid)
	switch {
	case Look(p) == observe.Gone: // otherwise all answers for pid are about p
		return p, false, nil
	case found == member:
		return p, true, nil
	case found == uncertain && inSession(pid, s.leader.PID):
		return p, false, fmt.Errorf("process %d shows no environment yet", pid)
	case s.lost && found == unmarked && s.inheritsSession(pid):
		const why = "is in its session, but its keeper was killed, so nothing vouches for it"
		return p, false, fmt.Errorf("process %d (%s) %s: end it by hand", pid, Name(pid), why)
	}

	s.others = s.others || s.kept && parentOf(pid) == s.keeper.PID
	return p, false, nil
}

// membership returns the membership of pid according to the environment it was given. If that names
// no start, its parent decides.
func (s *search) membership(pid int) membership {
	before, err := look(pid)
	if err != nil {
		return stranger
	}

	process := incarnation{pid, before.startTicks}
	if is, known := s.known[process]; known {
		return is
	}

	is := s.judge(pid)
	if after, err := look(pid); err != nil || after.startTicks != before.startTicks {
		return stranger // it has ended, and the answers may be about another process
	}

	s.known[process] = is

	return is
}

func (s *search) judge(pid int) membership {
	given, certain := givenEnvironment(pid, s.until)
	if _, is := given.value(KeeperVariable); is {
		return stranger // a keeper of another start, or of a job
	}

	if starts, _ := given.value(StartVariable); starts != "" {
		if listsID(starts, s.id) {
			return member
		}
		return stranger
	}

	switch {
	case s.heir(pid):
		return member
	case !certain:
		return uncertain
	}

	return unmarked
}

// heir reports whether the parent of pid is the keeper or belongs to the start.
func (s *search) heir(pid int) bool {
	for {
		parent := parentOf(pid)
		switch {
		case parent <= 1:
			return false
		case s.kept && parent == s.keeper.PID:
			return true
		}

		found, err := look(parent)
		if err == nil && found.startTicks < s.leader.StartTicks {
			return false
		}

		is := s.membership(parent)
		if parentOf(pid) == parent { // otherwise the number was not the parent's all along
			return is == member
		}
	}
}

// inheritsSession reports whether pid is in the session of the leader, whose pid no other process
// has got.
func (s *search) inheritsSession(pid int) bool {
	leader, err := look(s.leader.PID)
	return inSession(pid, s.leader.PID) && (err != nil || leader.startTicks == s.leader.StartTicks)
}

// parentOf returns the pid of the parent of pid, or 0.
func parentOf(pid int) int {
	found, _ := look(pid)
	return found.parent
}

func inSession(pid, session int) bool {
	found, err := unix.Getsid(pid)
	return err == nil && found == session
}
