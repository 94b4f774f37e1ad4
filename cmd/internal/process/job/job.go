//go:build unix

// Package job runs a command as a child of this process, in a process group of its own, like a
// shell with job control: it lends the command the terminal, passes stops and signals on, and
// follows the command and everything it starts to their end. See [Start] and [Job].
//
// On Linux a second process, the [Keeper], ends the job when this process dies. After [Adopt], Job
// also finds processes that have left the group.
package job

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/process"
)

// Job is a command that runs as a child of this process, in a process group of its own. The job
// includes everything that the command starts, except processes that make a group or session of
// their own; those are included if this process adopts them (see Adopt). If this process has a
// terminal, the job may use it as if the shell had started it (see Start). The methods may be
// called concurrently. A process has one job at a time.
type Job struct {
	pid        int
	tty        *terminal           // nil if this process has none
	foreground bool                // the job begins as the foreground, if this process is that
	stops      chan syscall.Signal // signals that stopped the leader, for control
	signals    chan os.Signal      // signals to this process, for control
	closing    chan struct{}       // closed by Close, while mu is locked
	idle       chan struct{}       // closed when control is over
	takes      bool                // control handles SIGTSTP and SIGCONT until idle is closed
	ended      chan struct{}
	empty      chan struct{}

	end      End                 // of the leader; set before ended is closed
	strayEnd atomic.Pointer[End] // of the last stray waited for; nil: none

	keeper *Keeper

	asked atomic.Int64 // when Signal last sent SIGINT or SIGQUIT, in nanoseconds

	mu    sync.RWMutex // held while group or tty are in use, so that they stay open
	group group
	over  bool // no process is left: another group may get the number
}

// Start runs the program at path, which is not looked up in PATH, with argv and env; sh runs a text
// without #!. The caller closes the job. After an error, with the errno of execve(2), such as
// ENOENT, EACCES and ENOEXEC, or of fork(2), nothing has run.
//
// The program has the working directory and the limits of this process. Its descriptors 0, 1 and 2
// are files; nil means those of this process. Above them it has those that our parent left open. No signal is blocked. Those that this
// process ignores are ignored, and no others.
//
// On Linux, when this process dies, in whatever way, the kernel kills the leader. The keeper ends
// the rest of the group, and processes that have left it, by SIGTERM and after a while SIGKILL. It
// is a small process of the caller's own executable, whose main calls Keep; the job takes it over,
// and no other job may have it. In StartVariable the job gets the id of the keeper in front of
// others.
//
// If stdin and stdout are the terminal and we are its foreground, the job becomes the foreground;
// else it does when it wants to read, or to set modes, while we are. A job that the terminal stops,
// or that stops as its foreground, also stops our own process group, for the shell to see. When we
// go on, so does the job, in the foreground if we are and it was.
//
// Until Close, Start and not the caller handles SIGTSTP, which goes to the job, and SIGCONT;
// without a terminal only after some milliseconds, since handling them costs more than many a job.
// With a terminal SIGTTOU is ignored: our output would stop us where the job is the foreground and
// "stty tostop" is set.
func Start(path string, argv, env []string, files []uintptr, keeper *Keeper) (*Job, error) {
	return start(path, argv, env, files, keeper, true)
}

// StartBehind is Start for a job that does not become the foreground before it reads from the
// terminal or sets its modes. Until then Ctrl-C reaches our own process group, and with it the
// parent that started us, whatever the job does at that signal.
func StartBehind(path string, argv, env []string, files []uintptr, keeper *Keeper) (*Job, error) {
	return start(path, argv, env, files, keeper, false)
}

func start(path string, argv, env []string, files []uintptr, keeper *Keeper, foreground bool) (*Job, error) {
	j := &Job{
		foreground: foreground,
		keeper:     keeper,
		tty:        openTerminal(),
		stops:      make(chan syscall.Signal),
		signals:    make(chan os.Signal, 16), // each member of our group may stop it
		closing:    make(chan struct{}),
		idle:       make(chan struct{}),
		ended:      make(chan struct{}),
		empty:      make(chan struct{}),
	}

	keeper.await() // first: the command may kill us as soon as it begins
	started := make(chan error)
	go j.run(path, argv, keeper.mark(env), inherited(files), started)
	err := <-started
	if j.tty != nil {
		signal.Ignore(syscall.SIGTTOU) // not before, or the job would ignore it as well
	}

	if err != nil {
		j.keeper.Dismiss()
		j.tty.takeBack(j.pid)
		j.tty.close()
		return nil, err
	}

	if j.tty != nil {
		j.takeStops()
	}

	go j.control()

	return j, nil
}

// inherited returns files, or our own if it is nil, without those that we were started without: in
// place of one that the command should find closed, the runtime has opened /dev/null.
func inherited(files []uintptr) []uintptr {
	all := []uintptr{0, 1, 2}
	copy(all, files)
	for i, fd := range all {
		if fd <= 2 && entry.Closed(fd) {
			all[i] = ^uintptr(0)
		}
	}
	return all
}

// run starts the command and follows it to its end.
func (j *Job) run(path string, argv, env []string, files []uintptr, started chan<- error) {
	// for good: the kernel kills the leader when the thread that forked it ends
	runtime.LockOSThread()
	process.UnblockSignals()
	process.RestoreUmask()
	sys := newLeader()
	if j.tty != nil && j.foreground && j.tty.ours() {
		j.tty.handOver()
		sys.Foreground, sys.Ctty = true, j.tty.fd
	}

	err := process.ExecLikeShell(func(path string, argv []string) (err error) {
		j.pid, _, err = syscall.StartProcess(path, argv, &syscall.ProcAttr{
			Env:   env,
			Files: files,
			Sys:   sys,
		})
		return err
	}, path, argv)

	if err == nil {
		j.group = newGroup(j.pid)
		j.keeper.keep(j.group)
	}

	started <- err
	if err == nil {
		j.follow()
	}
}

// PID returns the pid of the leader, which is also the number of the group.
func (j *Job) PID() int {
	return j.pid
}

// Unkept returns why the job has no keeper, or nil if it has one.
func (j *Job) Unkept() error {
	return j.keeper.err
}

// Ended returns a channel that is closed when the leader has ended.
func (j *Job) Ended() <-chan struct{} {
	return j.ended
}

// Empty returns a channel that is closed when the leader has ended and neither its group nor a
// stray is left, zombies aside. It is closed at once when the last one ends, but up to a second
// late if that one had made a group or session of its own. Systems other than Linux poll every 100
// ms, and count zombies as processes. If Close comes first, the channel is never closed.
func (j *Job) Empty() <-chan struct{} {
	return j.empty
}

// End waits until Ended and returns how the leader ended.
func (j *Job) End() End {
	<-j.ended
	return j.end
}

// Signal sends sig to all processes of the group. After the leader has ended it sends it to the
// strays as well. It never reaches another group. SIGTERM, SIGHUP and SIGINT are followed by
// SIGCONT, because stopped processes would not get them otherwise.
//
// It returns ErrNoProcess after Empty, os.ErrClosed after Close, or the error of kill(2), such as
// EPERM if no process could be signalled.
func (j *Job) Signal(sig syscall.Signal) error {
	if sig == syscall.SIGINT || sig == syscall.SIGQUIT {
		j.asked.Store(time.Now().UnixNano())
	}

	err, strays := j.send(sig), j.signalStrays(sig)
	if err != nil && !(err == process.ErrNoProcess && strays) {
		return err
	}

	switch sig {
	case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT:
		j.send(syscall.SIGCONT) // an error means that the first was enough
		j.signalStrays(syscall.SIGCONT)
	}

	return nil
}

func (j *Job) send(sig syscall.Signal) error {
	j.mu.RLock()
	defer j.mu.RUnlock()

	switch {
	case closed(j.closing):
		return os.ErrClosed
	case j.over:
		return process.ErrNoProcess
	}

	err := j.group.send(sig)
	if err == syscall.ESRCH {
		return process.ErrNoProcess
	}

	return err
}

// hasEnded records how the leader, which is gone or a zombie, has ended.
func (j *Job) hasEnded(how End) {
	j.mu.RLock()
	foreground := !closed(j.closing) && j.tty != nil && j.tty.foreground() == j.pid
	j.mu.RUnlock()
	byKey := foreground && (how.Signal == syscall.SIGINT || how.Signal == syscall.SIGQUIT)
	how.Interrupted = byKey && time.Since(time.Unix(0, j.asked.Load())) > time.Second
	j.end = how
	close(j.ended)
}

// endOf returns how the process with status ended.
func endOf(status syscall.WaitStatus) End {
	if status.Signaled() {
		return End{Signal: status.Signal(), Dumped: status.CoreDump()}
	}
	return End{Code: status.ExitStatus()}
}

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// stopped tells control that sig has stopped the leader.
func (j *Job) stopped(sig syscall.Signal) {
	select {
	case j.stops <- sig:
	case <-j.closing:
	}
}

// Close makes us the foreground of the terminal again if the job, or a group that no longer exists,
// is. If the leader was killed, it restores the modes of the terminal. It releases the handles of
// the job. It signals no process. If the leader is still alive, a thread keeps waiting for it.
//
// It returns os.ErrClosed if the job is already closed, or the error of tcsetpgrp(3).
func (j *Job) Close() error {
	j.mu.Lock()
	again := closed(j.closing)
	if !again {
		close(j.closing)
	}

	j.mu.Unlock()
	if again {
		return os.ErrClosed
	}

	<-j.idle
	j.keeper.leave()
	if j.takes {
		signal.Stop(j.signals)
		if !signal.Ignored(syscall.SIGTSTP) {
			setDefault(syscall.SIGTSTP)
		}
	}

	j.mu.Lock()
	defer j.mu.Unlock()

	j.group.close()
	if j.tty == nil {
		return nil
	}

	err := j.tty.takeBack(j.pid)
	if closed(j.ended) && j.end.Signal != 0 {
		j.tty.restore()
	}

	return errors.Join(err, j.tty.close())
}

// PassOn sends sig, by which the leader was interrupted (see End), to our own process group, which
// would have received it if the job had not been the foreground. After that the caller should only
// exit.
//
// This process dies of SIGINT, unless it ignores that: a shell script ends at Ctrl-C only if it
// sees a command die of it. After SIGQUIT PassOn returns, because Go would print its stacks.
func PassOn(sig syscall.Signal) {
	survives := sig == syscall.SIGQUIT || signal.Ignored(sig)
	if survives {
		signal.Ignore(sig)
	} else {
		setDefault(sig)
	}

	syscall.Kill(0, sig)
	if !survives {
		time.Sleep(time.Second) // only reached if the signal is blocked, or this system is slow
	}
}
