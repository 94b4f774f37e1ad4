package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// call is the role of a call in an operation.
type call struct {
	env    *cli.Env
	flags  *run
	ledger *fileops.Ledger
	op     string
	push   protocol.Push
	seen   protocol.Operation // the operation as last read, usually by an edit
	period time.Duration      // between two heartbeats, according to the last edit
	heard  protocol.Operation // the operation as last read by excuse
	awake  atomic.Int64       // the revision in which it was idle before the last output
	inside bool               // it is part of another call of the operation
	began  bool               // its push created the operation
	begun  int64              // the revision in which it did
	run    string             // of the operation, once it has begun
	// the last run of which nothing is left, and of whose failure was told
	cleared string
	// the calls that wait for this one, as far as they were known when it began
	callers []string
	edits   sync.Mutex // held during an edit
	judged  bool       // the caller decides what a failure means
	// the operation is an attempt of a queue: it has no call of anyone else
	attempt bool
	why     error // of StatusOver; nil: the call or its operation has ended
	unsure  bool  // a pop failed in a way that others may see it anyway
}

// role returns the role that the flags ask for.
func (c *run) role(env *cli.Env) (role, error) {
	if c.Group != "" {
		return c.registration(env)
	}

	p, op, err := c.Arguments(env, cmp.Or(c.Participant, cli.ID(participantOf(c.Command[0]))))
	if err != nil {
		return nil, err
	}

	p.Tmp, p.Process = true, self()
	p.PID = p.Process.PID
	if c.Notify {
		p.Readiness = observe.ReadinessStarting
	}

	l, err := c.Open(env)
	if err == nil {
		err = c.openResults(env, l)
	}

	return &call{env: env, flags: c, ledger: l, op: op, push: p}, err
}

// participantOf returns the file name of command as an id, with - for characters not allowed there.
func participantOf(command string) string {
	name := []byte(filepath.Base(command))
	for i, b := range name {
		if !strings.ContainsRune("._:-", rune(b)) && !alphanumeric(b) {
			name[i] = '-'
		}
	}

	id := strings.ReplaceAll(strings.TrimLeft(string(name), "._:-"), "..", "--")
	id = id[:min(len(id), 60)]
	if wire.CheckID(id) != nil {
		return "command"
	}
	return id
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

func (c *call) name() string { return c.op + ": " + c.push.Call }

// tmp is the temporary directory of the call, once it has begun.
func (c *call) tmp() string { return c.ledger.TmpDir(c.op, c.run, c.push.Call) }

func (c *call) files() []uintptr { return c.flags.results.files() }

func (c *call) daemonizes() bool { return false }

func (c *call) ids() cli.Object {
	return cli.Object{{"operationId", c.op}, {"callId", c.push.Call}}
}

func (c *call) begin(signals <-chan os.Signal) ([]string, time.Duration, error) {
	edit, err := c.pushCall(signals)
	if err != nil || c.env.DryRun() {
		return nil, 0, c.tooLate(err)
	}

	c.began = session.Created(edit)
	c.begun, c.run = edit.After.Revision, edit.After.RunID
	caller := edit.After.Frame(c.push.Call).CallerID
	c.judged = c.flags.CallerDecides && caller != ""
	if len(c.flags.held) > 0 && len(edit.After.Stack) > 1 {
		c.callers = callersOf(edit.After, caller)
	}
	c.seen = edit.After
	seen, _ := c.ledger.ObserveOperation(edit.After, c.env.Observer()())
	c.period = edit.After.Pace(c.push.Call, seen)
	variables := []string{
		"DPL_LEDGER=" + c.ledger.Dir(), "DPL_OP=" + c.op, "DPL_RUN=" + c.run,
		"DPL_CALL=" + c.push.Call, "DPL_PARTICIPANT=" + c.push.Participant,
		"DPL_TMP=" + c.tmp(),
	}
	if traceparent := edit.After.PassesOn(c.push.Call); traceparent != "" {
		variables = append(variables, "TRACEPARENT="+traceparent)
	}
	return variables, min(edit.After.HeartbeatInterval, mostInterval), nil
}

// pushCall pushes the call.
func (c *call) pushCall(signals <-chan os.Signal) (session.Edit, error) {
	if !c.attempt {
		return c.start(signals)
	}
	edit, err := c.env.Edit(c.ledger, c.op, fileops.OrCreate|fileops.Own,
		session.Pushing{CallerMayGo: true}.Push(c.op, c.push))
	return edit, cli.Named("push", c.op, c.push.Call, err)
}

func (c *call) tidy() {
	if c.began {
		if err := c.env.PassOverIdle(c.ledger, c.op); err != nil {
			c.env.Logf("%v", err)
		}
	}
}

// tooLate gives err the exit status for a call whose operation is no longer running.
func (c *call) tooLate(err error) error {
	switch {
	case errors.Is(err, fileops.ErrArchived):
		return cli.WithStatus(cli.StatusOver, err)
	case errors.Is(err, protocol.ErrNotRunning):
		op, _, failed := c.ledger.ReadOperation(c.op)
		if failed == nil && op.State.Terminal() {
			return cli.WithStatus(cli.StatusOver, err)
		}
		err = notBegun{fmt.Sprintf("%s: not started: %s", c.name(), failedBecause(op)), err}
		if c.isTold(op) {
			c.env.Logf("%v", err)
			err = cli.Silent(err)
		}
		return cli.WithStatus(cli.StatusCleanUp, err)
	}

	return err
}

func (c *call) beat(say observe.Report) (int, error) {
	c.edits.Lock()
	defer c.edits.Unlock()
	actor := protocol.Actor{Call: c.push.Call, Run: c.run, PID: c.push.PID, Process: c.push.Process}
	edit, err := c.env.Edit(c.ledger, c.op, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if op.State == protocol.Running {
				say.Cleaning = false // that notice was for an earlier operation with the same id
			}
			after, err := op.Heartbeat(actor, c.report(op, say), seen)
			c.period = after.Pace(c.push.Call, seen)
			return after, err
		})

	switch {
	case gone(err) || edit.Archived:
		c.lose(err)
		return cli.StatusOver, nil
	case err != nil:
		return 0, cli.Named("heartbeat", c.op, c.push.Call, err)
	}

	c.seen = edit.After
	return cli.StatusOfVerdict(edit.After.Verdict(actor)), nil
}

func (c *call) pace() time.Duration { return c.period }

// A notBegun says in words for people why a call was refused.
type notBegun struct {
	said string
	err  error
}

func (e notBegun) Error() string { return e.said }
func (e notBegun) Unwrap() error { return e.err }

// isTold reports whether a caller of c is a dpl-run: the outermost one prints why op failed, once.
func (c *call) isTold(op protocol.Operation) bool {
	return slices.ContainsFunc(callersOf(op, c.push.Caller), func(id string) bool {
		f := op.Frame(id)
		return f != nil && f.StartID != ""
	})
}

// goesOn reports whether the operation is still running: a call below this one may have failed it.
func (c *call) goesOn() bool {
	op, archived, err := c.ledger.ReadOperation(c.op)
	return err != nil || !archived && op.RunID == c.run && op.State == protocol.Running
}

// mostJudged is the number of frames up to which a look judges them. Larger operations have enough
// heartbeats.
const mostJudged = 64

// called reports whether a heartbeat is needed early: the operation is no longer running, a
// participant in it has died, or it cannot be read.
func (c *call) called() bool {
	revision, state, err := c.ledger.Glance(c.op)
	switch {
	case err != nil, state != protocol.Running && state != "":
		return true
	case len(c.seen.Stack) > mostJudged:
		return false
	}

	if revision != c.seen.Revision || revision == 0 {
		if c.seen, _, err = c.ledger.ReadOperation(c.op); err != nil {
			return true
		}
	}

	seen, _ := c.ledger.ObserveOperation(c.seen, c.env.Observer()())
	after, err := c.seen.Cleanup(c.push.Participant, seen)
	return err != nil || c.seen.State != protocol.Running || after.Revision != c.seen.Revision
}

func (c *call) explain(status int) string {
	switch status {
	case cli.StatusCleanUp:
		return failedBecause(c.seen)
	case cli.StatusOver:
		if c.why != nil {
			return c.op + ": " + c.why.Error()
		}
		return fmt.Sprintf("operation %s, or its call %s, is over", c.op, c.push.Call)
	}

	return c.declared(c.seen.Frame(c.push.Call))
}

// failedBecause returns the state of op, which is no longer running, and the reason.
func failedBecause(op protocol.Operation) string {
	t, left := op.LeftRunning()
	switch {
	case !left:
		return fmt.Sprintf("operation %s is in state %s", op.ID, op.State)
	case t.To == protocol.Aborted:
		return fmt.Sprintf("operation %s was aborted: %s", op.ID, explain.Why(t))
	}
	return fmt.Sprintf("operation %s failed: %s", op.ID, explain.Why(t))
}

// declared says that the call was declared crashed. If f, its frame, has crash members, it names
// the actor and the evidence. f may be nil.
func (c *call) declared(f *protocol.Frame) string {
	said := fmt.Sprintf("%s: call %s was declared crashed", c.op, c.push.Call)
	if f == nil || f.Crash == nil {
		return said
	}
	return fmt.Sprintf("%s by %s: %s", said, f.Crash.DetectedBy, f.Crash.Evidence)
}

// gone reports whether err means that the call no longer exists.
func gone(err error) bool {
	return errors.Is(err, protocol.ErrNoCall) || errors.Is(err, protocol.ErrOver) ||
		errors.Is(err, fileops.ErrArchived) || errors.Is(err, fileops.ErrNotFound)
}

// lose remembers that the call is gone because its ledger is.
func (c *call) lose(err error) {
	if errors.Is(err, fileops.ErrNoLedger) {
		c.why = err
	}
}

func (c *call) end(e end) (verdict, error) {
	pop := protocol.Pop{Call: c.push.Call, Run: c.run, Exit: e.facts(), Reason: c.reason(e),
		Fail: c.fails(e)}
	results := &c.flags.results
	if e.failure == "" {
		pop.Publish = results.get(c.ledger, c.tmp(), e.told)
	}

	var crashed *protocol.Frame
	edit, err := c.popping()(c.ledger, c.op, func(why error) fileops.Verb[protocol.Operation] {
		results.fail(why)
		if results.failed != nil {
			pop.Publish, pop.Fail = nil, c.fails(end{failure: results.failed.Error()})
			pop.Reason = results.failed.Error()
		}
		pop.DeleteResources = (e.failure != "" || e.told || results.failed != nil) &&
			!c.flags.KeepResources
		return func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			crashed = nil
			if f := op.Frame(c.push.Call); f != nil && !f.State.Live() {
				crashed = f
			}
			popped := pop
			if (popped.Reason == "" || e.told && e.stopped == 0) && c.wasStopped(e, op) {
				popped.Reason = "stopped: " + failedBecause(op)
			}
			return op.Pop(popped, seen)
		}
	})

	for _, path := range c.ledger.Kept() {
		c.env.Warnf("%s: %s is kept: it was there before, as it is", c.name(), path)
	}
	if gone(err) && c.unsure {
		err = fileops.ErrCommitted // the first try has removed it
	}

	c.unsure = c.unsure || errors.Is(err, fileops.ErrUnknown)
	if gone(err) {
		c.lose(err)
		return verdict{status: cli.StatusOver, reason: c.explain(cli.StatusOver)}, nil
	}
	if err != nil {
		return verdict{}, cli.Named("pop", c.op, c.push.Call, err)
	}

	v := verdict{state: edit.After.State}
	switch {
	case crashed != nil:
		v.status, v.reason = cli.StatusCrashed, c.declared(crashed)
	case wentWrong(edit.After, pop):
		v.status, v.reason = cli.StatusCleanUp, failedBecause(edit.After)
	case results.failed != nil:
		v.status, v.reason = cli.StatusOwn, results.failed.Error()
	}

	return v, nil
}

// reason returns why the call ends with e, in words, unless the end of the command says it.
func (c *call) reason(e end) string {
	switch {
	case e.told && e.stopped == 0 && e.failure == e.words():
		return e.failure + " (dpl-run got SIGTERM)"
	case e.failure == "", e.stopped == 0 && e.failure == e.words():
		return ""
	case e.stopped != 0 && e.stopped != cli.StatusTimeout:
		return "stopped: " + e.failure
	}
	return e.failure
}

// wasStopped reports whether TERM has ended the command although op had failed before, for another
// cause: what had called it was stopped, and all processes of that.
func (c *call) wasStopped(e end, op protocol.Operation) bool {
	t, left := op.LeftRunning()
	return e.Signal == syscall.SIGTERM && left && (t.Cause == nil || t.Cause.Call != c.push.Call)
}

// fail records that the command has failed with e, before what it has left is stopped: that must not
// seem to be the cause. end is still to come.
func (c *call) fail(e end) error {
	if !c.fails(e) {
		return nil
	}
	c.edits.Lock()
	defer c.edits.Unlock()
	_, err := c.env.Edit(c.ledger, c.op, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Fail(protocol.Failing{Call: c.push.Call, Run: c.run, Exit: e.facts(),
				Reason: c.reason(e)}, seen)
		})
	if gone(err) {
		err = nil
	}
	return cli.Named("fail", c.op, c.push.Call, err)
}

// popping returns how the edit of the pop is made. The operation of an attempt is over with its
// call.
func (c *call) popping() func(l *fileops.Ledger, id string,
	verb func(why error) fileops.Verb[protocol.Operation]) (session.Edit, error) {
	if !c.attempt {
		return c.env.EndCall
	}
	return func(l *fileops.Ledger, id string, verb func(why error) fileops.Verb[protocol.Operation]) (
		session.Edit, error) {
		return c.env.FinishOperation(l, id, verb(nil))
	}
}

// wentWrong reports whether op, as pop left it, is neither running nor completed for any reason
// other than that pop.
func wentWrong(op protocol.Operation, pop protocol.Pop) bool {
	if op.State == protocol.Running || op.State == protocol.Completed {
		return false
	}
	t, left := op.LeftRunning()
	byPop := left && pop.Fail && t.Cause != nil && t.Cause.Call == pop.Call && t.Cause.Evidence == ""
	return !byPop
}
