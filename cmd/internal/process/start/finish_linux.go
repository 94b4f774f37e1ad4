package start

import (
	"cmp"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"golang.org/x/sys/unix"
)

// finishVariable carries the finish command of a start.
const finishVariable = "DPL_FINISH_"

// finishing returns the environment in which the keeper of s knows its finish command. The log and
// the working directory are those of s. Its Latest is how long it may run.
func (s Command) finishing() (env []string) {
	if len(s.Finish) == 0 {
		return nil
	}
	finish := Command{Argv: s.Finish, Dir: s.Dir, Env: s.Env, EnvFile: s.EnvFile, Log: s.Log,
		Journal: s.Journal, Latest: s.FinishTimeout, Context: group.Context{Umask: s.Context.Umask}}
	return finish.carried(finishVariable)
}

// finish runs the finish command of the start with record r, if it has one (spec §25.2), and
// records how it ends. Before that, the record says that this is unknown: so it stays if this
// process is killed. The finish command dies with it, and is never run again.
func (r *record) finish(path string) error {
	s, found := carriedCommand(finishVariable)
	if !found {
		return nil
	}

	r.End.FinishStatus = policy.FinishUnknown
	if err := cmp.Or(r.write(), unix.Fsync(r.file)); err != nil {
		return err
	}

	reason, detail := whyEnded(path, r.ServiceID, r.StartID)
	s.Env = append(slices.DeleteFunc(s.Env, isAboutExit), "DPL_EXIT_CODE="+string(r.End.Code),
		"DPL_EXIT_STATUS="+strconv.Itoa(r.End.Status), "DPL_EXIT_REASON="+reason,
		"DPL_EXIT_DETAIL="+detail)
	r.End.FinishStatus = s.runFinish()
	return r.write()
}

// isAboutExit reports whether a variable would say something else than the end of this start.
func isAboutExit(entry string) bool { return strings.HasPrefix(entry, "DPL_EXIT_") }

// whyEnded returns why the start id of a service has ended, from the registry of the ledger in
// which its record is: the pass has found that trustworthy. It needs no lock, because what stops a
// service is committed before the signal.
func whyEnded(record, service, id string) (reason, detail string) {
	groupDir := filepath.Dir(record)
	l, err := fileops.Open(filepath.Dir(filepath.Dir(groupDir)), fileops.Options{AnyOwner: true})
	if err != nil {
		return policy.Exited, ""
	}

	g, err := l.ReadGroup(filepath.Base(groupDir))
	if err != nil {
		return policy.Exited, ""
	}
	if s := g.Service(service); s != nil && s.StartID == id {
		return s.WhyEnds()
	}
	return policy.Exited, ""
}

// runFinish runs s for at most Latest, and returns how it ended. Nothing of its process group is
// left. It does not inherit that this process ignores signals.
func (s Command) runFinish() string {
	runtime.LockOSThread() // the process dies with this thread
	defer runtime.UnlockOSThread()
	passOnSignals()

	env, err := Environment(s.Env, s.EnvFile)
	if err != nil {
		return policy.FinishFailed
	}
	s.Env = env

	pid, err := s.forkFinish()
	if err != nil {
		return policy.FinishFailed
	}

	overdue := time.AfterFunc(s.Latest, func() { unix.Kill(-pid, unix.SIGKILL) })
	status, err := await(pid)
	timedOut := !overdue.Stop()
	unix.Kill(-pid, unix.SIGKILL) // what it has left
	switch {
	case err != nil:
		return policy.FinishUnknown
	case timedOut && status.Signaled():
		return policy.FinishTimedOut
	case status.Signaled():
		return policy.SignalWord(int(status.Signal()))
	}

	return strconv.Itoa(status.ExitStatus())
}

// forkFinish starts s as the leader of a process group of its own, and returns its pid.
func (s Command) forkFinish() (pid int, err error) {
	log, err := s.openLog()
	if err != nil {
		return 0, err
	}
	defer unix.Close(log)
	if err := unix.SetNonblock(log, false); err != nil {
		return 0, err
	}

	if s.Journal != "" {
		s.Env = inJournal(s.Env, log)
	}
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: preflightAttr(),
		Files: []uintptr{0, uintptr(log), uintptr(log)}}
	if s.Context.Umask.Set { // only that one can be taken back, for what this keeper starts later
		defer unix.Umask(unix.Umask(s.Context.Umask.N))
	}
	err = s.exec(func(path string, argv []string) (err error) {
		pid, err = syscall.ForkExec(path, argv, attr)
		return err
	})
	return pid, err
}
