package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// checkQueue refuses flags that do not go together with --queue.
func (c *run) checkQueue(env *cli.Env) error {
	modes := 0
	for _, given := range []bool{c.Once, c.UntilEmpty, c.UntilDone, c.Follow} {
		if given {
			modes++
		}
	}

	switch {
	case modes != 1:
		return cli.Usagef("--queue goes with one of --once, --until-empty, --until-done and --follow")
	case c.Given("group", "service", "op", "call", "caller", "supervisor", "handle",
		"orphan-policy", "description", "resource", "no-fail-on-crash", "heartbeat", "staleness",
		"interval", "no-create", "shared", "commit", "resource-root"):
		return cli.Usagef("--queue makes operations of its own: leave out the flags of calls, groups " +
			"and new ledgers")
	case c.Once && c.Jobs != 1:
		return cli.Usagef("--once does one task: leave out --jobs")
	case c.Jobs < 1:
		return cli.Usagef("--jobs: want at least 1")
	case c.DryRun && !c.Once:
		return cli.Usagef("--dry-run goes with --once")
	case c.logMax() != 0 && c.logMax() < logs.LeastLimit:
		return cli.Usagef("--log-max: want at least 2M, or 0 for no limit")
	case c.StatusFD != nil && !c.Once:
		return cli.Usagef("--status-fd goes with --once")
	}
	return c.checkSilence(env)
}

// work does tasks of a queue.
func (c *run) work(env *cli.Env, a *account) error {
	l, err := c.openQueue(env)
	if err != nil {
		return err
	}
	alerts := c.newAlerts(env, l)
	defer alerts.finish()
	if c.Once {
		return c.once(env, l, a)
	}

	w := &workers{env: env, flags: c, ledger: l, follow: follow.NewQueue(l, string(c.Queue)),
		signals: catchForAttempts(), ended: make(chan *worker),
		changed: make(chan struct{}), progress: c.newProgress(env), alerts: alerts}
	catchStops(w.signals)
	defer w.follow.Close()
	defer w.progress.erase()
	return cli.InQueue(c.Queue, w.run())
}

// workers do the tasks of a queue, several at a time. Each attempt is a process of its own, which
// claims and settles: dpl-run --once. So an attempt ends well even if this process is killed.
type workers struct {
	env      *cli.Env
	flags    *run
	ledger   *fileops.Ledger
	follow   *follow.Queue
	signals  chan os.Signal
	ended    chan *worker
	changed  chan struct{} // closed when run need not wait any longer
	progress *progress
	alerts   *alerts

	busy     []*worker
	told     syscall.Signal // the signal by which this process was asked to end
	next     bool           // the last worker has done a task, so there may be another one
	did      bool           // a task was claimed and begun
	rest     time.Time      // no worker is started before that, because one has failed
	locked   bool           // the last worker could not edit the queue in time
	failures int            // of workers, in a row
	why      string         // the last one
}

// A worker does one task.
type worker struct {
	slot int
	*exec.Cmd
	told <-chan []byte // the line of its --status-fd, or nothing
}

// mostFailures is how many workers may fail in a row.
const mostFailures = 5

// run does tasks until there are none, and returns the error for the exit status. It reads the
// queue only if it has workers to spare and does not know whether there is a task for them: a queue
// of thousands of tasks changes hundreds of times a second.
func (w *workers) run() error {
	for {
		if len(w.busy) == int(w.flags.Jobs) || w.told != 0 && len(w.busy) > 0 {
			w.await(nil)
			continue
		}
		if w.next && w.told == 0 {
			w.next = false
			if err := w.start(); err == nil {
				continue
			}
		}

		w.follow.Arm()
		q, err := w.ledger.ReadQueue(string(w.flags.Queue))
		if err != nil && len(w.busy) == 0 {
			return err
		}

		if err == nil {
			w.alerts.start(&q)
		}
		if err == nil && w.told == 0 {
			err = w.fill(&q)
		}
		if err != nil {
			w.warn(err)
			w.fail(err.Error(), errors.Is(err, fileops.ErrBusy))
		}
		if q.ID != "" {
			w.ledger.LookAfter(q, w.env.Program) // even before this ends: cron starts another one
		}
		if over, err := w.over(q); over {
			return err
		}
		w.wait(q)
	}
}

// fill starts workers for the tasks of q that are ready, with the tasks of dead workers returned.
// If there are none, it returns those.
func (w *workers) fill(q *queue.Queue) error {
	w.follow.Failed = time.Now().Before(w.rest)
	if w.follow.Failed || w.gaveUp() {
		return nil
	}

	seen := w.ledger.ObserveQueue(*q, w.env.Observer()())
	after, err := q.Pass(seen)
	if err != nil {
		return err
	}

	ready := after.CountReady(seen, int(w.flags.Jobs)-len(w.busy))
	for range ready {
		if err := w.start(); err != nil {
			return err
		}
	}
	if ready == 0 && after.Revision != q.Revision {
		return w.makePass(q)
	}
	return nil
}

// makePass makes the edit of q that is due, such as to return a task that has to wait for its backoff:
// no worker will make it.
func (w *workers) makePass(q *queue.Queue) error {
	edit, err := w.env.EditQueue(w.ledger, q.ID, fileops.Existing, queue.Queue.Pass)
	if w.follow.Failed = err != nil; err == nil {
		*q = edit.After
	}
	return err
}

// start starts a worker.
func (w *workers) start() error {
	slot := 1
	for _, b := range w.busy {
		if b.slot == slot {
			slot = b.slot + 1
		}
	}

	own, err := os.Executable()
	if err != nil {
		return err
	}
	b := &worker{slot: slot, Cmd: exec.Command(own, w.arguments(slot)...)}
	b.Args[0] = os.Args[0]
	b.Stderr = os.Stderr
	b.SysProcAttr = apart()
	if err := b.startTelling(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}

	i := 0
	for i < len(w.busy) && w.busy[i].slot < slot {
		i++
	}
	w.busy = append(w.busy[:i], append([]*worker{b}, w.busy[i:]...)...)
	go func() {
		b.Wait()
		w.ended <- b
	}()
	return nil
}

// arguments returns the arguments of a worker.
func (w *workers) arguments(slot int) []string {
	c := w.flags
	who := string(c.Participant)
	if who == "" {
		who = "dpl-run-" + ownName()
	}
	if c.Participant == "" || c.Jobs > 1 {
		who += "-" + strconv.Itoa(slot)
	}

	args := append([]string{"--queue", string(c.Queue), "--once", "--ledger", w.ledger.Dir(),
		"--participant", who, "--status-fd", "3",
		"--kill-after", time.Duration(c.KillAfter).String()}, w.env.Again()...)
	args = append(args, w.env.SameTime()...) // or it finds nothing to do where this one does
	if c.Timeout != 0 {
		args = append(args, "--timeout", time.Duration(c.Timeout).String())
	}
	if c.SoftTimeout != 0 {
		args = append(args, "--soft-timeout", time.Duration(c.SoftTimeout).String())
	}
	if c.Given("soft-signal") {
		args = append(args, "--soft-signal", strconv.Itoa(int(c.SoftSignal)))
	}
	if list := c.OK.String(); list != "" {
		args = append(args, "--ok", list)
	}
	if c.Notify {
		args = append(args, "--notify")
	}
	if c.Watchdog != 0 {
		args = append(args, "--watchdog", time.Duration(c.Watchdog).String())
	}
	if c.LogMax != nil {
		args = append(args, "--log-max", strconv.FormatInt(c.logMax(), 10))
	}
	args = append(args, c.silenceFlags()...)
	if len(c.Command) > 0 {
		args = append(append(args, "--"), c.Command...)
	}
	return args
}

// ownName returns what tells this process from others at a queue, for people: its pid, or in a
// container, where that is 1 everywhere, the name of the host.
func ownName() string {
	if host, err := os.Hostname(); os.Getpid() == 1 && err == nil && wire.CheckID(host) == nil {
		return host
	}
	return strconv.Itoa(os.Getpid())
}

// wait waits until something has changed, and takes note of it.
func (w *workers) wait(q queue.Queue) {
	changed, end := make(chan struct{}), make(chan struct{})
	go func() {
		w.follow.Wait(q, w.env.Observer(), nil, end)
		close(changed)
	}()

	w.await(changed)
	close(end)
	<-changed
}

// await waits for a worker, a signal or a change.
func (w *workers) await(changed <-chan struct{}) {
	rested := time.After(time.Until(earliest(w.rest)))
	for w.awaitOne(changed, rested) {
		w.progress.show()
	}
}

// awaitOne waits for one of what await waits for, or until it is time to show the progress: then it
// returns true.
func (w *workers) awaitOne(changed <-chan struct{}, rested <-chan time.Time) (show bool) {
	select {
	case <-w.progress.due():
		return true
	case <-changed:
	case <-rested:
		w.rest = time.Time{}
	case b := <-w.ended:
		w.lose(b)
	case sig := <-w.signals:
		w.pass(sig.(syscall.Signal))
	}
	return false
}

// warn prints a warning where the progress was.
func (w *workers) warn(err error) {
	w.progress.erase()
	w.env.Warnf("%v", err)
}

// lose takes note of the end of a worker.
func (w *workers) lose(b *worker) {
	for i := range w.busy {
		if w.busy[i] == b {
			w.busy = append(w.busy[:i], w.busy[i+1:]...)
			break
		}
	}

	w.next = b.ProcessState.ExitCode() == cli.StatusOK
	r := b.report()
	switch {
	case r.begun():
		w.did, w.failures, w.locked = true, 0, false
	case r.nothing():
	case b.ProcessState.ExitCode() < 0 && r.By == "":
		w.did = true // it was killed, so nobody knows what it has begun
	default:
		w.fail(r.Reason, r.locked())
	}
	if !w.next {
		if q, err := w.ledger.ReadQueue(string(w.flags.Queue)); err == nil {
			w.alerts.start(&q)
		}
	}
}

// pass passes a signal that asks this process to end on to the workers, which give their tasks
// back, and does what a terminal asks.
func (w *workers) pass(sig syscall.Signal) {
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		if w.told == 0 {
			w.told = sig
		}
		w.send(syscall.SIGTERM)
	default:
		w.stop(sig)
	}
}

// send sends sig to all workers.
func (w *workers) send(sig syscall.Signal) {
	for _, b := range w.busy {
		if err := b.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			w.warn(err)
		}
	}
}
