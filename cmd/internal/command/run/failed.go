package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Failed fails the operation if its call could not begin, and holds the pipes if it has failed.
// Then it ends this process as the terminal has ended the command.
func (c *run) Failed(env *cli.Env, args []string, status int) {
	a := &c.account
	say := func(text string) { env.Warnf("%s", text) }
	if call := c.call; call != nil && a.Begun {
		c.hold(env, env.Session, call.Ledger, call.Op, call.Run, call.Push.Call, call.callers, say)
	} else if !a.Begun {
		c.notBegun(env, args, status, say)
	}

	a.Close(env)
}

// notBegun fails the operation that this process is part of, because its command was not started
// (spec §15.8), and holds the pipes. Of a run that has ended, and of one that is failing already,
// it only holds the pipes.
func (c *run) notBegun(env *cli.Env, args []string, status int, say func(text string)) {
	op := cmp.Or(string(c.Op), env.Variable("DPL_OP"))
	elsewhere := c.Op == "" && slices.ContainsFunc(args,
		func(arg string) bool { return strings.HasPrefix(arg, "--op") }) ||
		c.Ledger == "" && slices.ContainsFunc(args,
			func(arg string) bool { return strings.HasPrefix(arg, "--ledger") })
	run := env.RunOf(op)
	if wire.CheckID(op) != nil || status == cli.StatusOver || elsewhere ||
		run == "" && env.Variable("DPL_OP") != op || env.DryRun() {
		return
	}

	// After wrong flags, those of the ledger may not have been read.
	s := session.New(session.Options{Program: env.Program, LockTimeout: longestHold,
		Ledger: cmp.Or(string(c.Ledger), os.Getenv("DPL_LEDGER"))})
	l, err := s.Open()
	if err != nil {
		return
	}
	participant := string(c.Participant)
	if participant == "" {
		participant = env.Program
		if len(c.Command) > 0 {
			participant = participantOf(c.Command[0])
		}
	}
	call := cmp.Or(string(c.Call), participant)
	c.held = inherited()
	judged := c.CallerDecides && env.Variable("DPL_CALL") != ""
	verb := func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
		return op.Cleanup(participant, seen) // nothing records the crash for which a push was refused
	}
	if status != cli.StatusCleanUp && !judged {
		why := fmt.Sprintf("exit status %d", status)
		if c.account.Failure != nil {
			why = c.account.Failure.Error()
		}
		failing := protocol.Failing{Call: call, By: participant, Run: run,
			Reason: "not started: " + why}
		verb = func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Fail(failing, seen)
		}
	}
	if run != "" && (status == cli.StatusCleanUp || !judged) {
		for until := time.Now().Add(c.patience()); ; {
			_, err = s.EditOperation(l, op, fileops.Existing, verb)
			if err == nil || !cli.Transient(err) || time.Now().After(until) ||
				!runner.MayRetry(c.account.Signals) {
				break
			}
		}
		if err != nil && !calls.Gone(err) {
			env.Warnf("%v", cli.Named("fail", op, call, err))
		}
	}

	c.hold(env, s, l, op, run, call, nil, say)
}

// patience returns how long to retry recording a failure. Until it is recorded, no other call knows
// of it, and this process keeps their pipes open by living.
func (c *run) patience() time.Duration {
	if len(c.held) > 0 {
		return longestHold
	}
	return runner.Patience
}

// hold holds the pipes of this process, whose call has ended or could not begin, if the operation
// op of l has failed. callers are calls that are known to wait for it.
func (c *run) hold(env *cli.Env, s *session.Session, l *fileops.Ledger, op, run, call string,
	callers []string, say func(text string)) {
	if len(c.held) == 0 || s.DryRun() {
		return
	}
	now, _, err := l.ReadOperation(op)
	if errors.Is(err, fileops.ErrNotFound) || err == nil && (run != "" && now.RunID != run ||
		now.State == protocol.Running || now.State == protocol.Completed) {
		return
	}

	h := hold{ledger: l, observe: s.Observer(), op: op, run: now.RunID, call: call,
		callers: append(callers, callersOf(now, env.CallIn(op))...), mine: ownMarks(),
		held: c.held, signals: c.account.Signals, say: say}
	if c.account.Keeper == nil { // the command was not started
		c.account.Keeper = job.NewKeeper(process.NewStartID(), 0, c.held...)
		c.account.Keeper.Tell(noteOf(l, op, h.run, call, "", call, h.callers))
	}
	h.wait()
}
