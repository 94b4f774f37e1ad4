package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/silence"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A listener waits for the command to be silent, and nudges it (spec §58). It also limits the log of
// an attempt. It looks at files, which may take long, so it does that beside the runner. A nil
// listener does nothing.
type listener struct {
	env         *cli.Env
	role        role
	output      *silence.Output
	limit       func() (bool, error) // cuts the log; nil: nothing limits it
	clock       silence.Clock
	nudge       string   // a shell command
	environment []string // of the nudge

	end     context.CancelFunc // nil before start
	command observe.Process
	nudging chan error // gets the end of the nudge that runs; nil: none does
	failed  bool       // a nudge has failed, which is said once
	idle    int64      // excuse.idle at the last look
}

// listener returns a listener for the command that will be p, or nil if neither silence nor the size
// of a log matters.
func (c *run) listener(env *cli.Env, p role) (*listener, error) {
	l := &listener{env: env, role: p, output: new(silence.Output),
		clock: silence.Clock{Limits: c.limits()}, nudge: string(c.OnNudge)}
	if at, is := p.(*attempt); is && c.logMax() != 0 {
		l.limit = at.limitLog
	}
	if !l.clock.Limits.Given() {
		if l.limit == nil {
			return nil, nil
		}
		return l, nil
	}

	var err error
	if l.output, err = c.output(env); err != nil {
		return nil, err
	}
	env.OwnMessages(l.output.Besides)
	return l, nil
}

// redirect gives the environment of the command to the nudge as well.
func (l *listener) redirect(environment []string) {
	if l != nil {
		l.environment = environment
	}
}

// News is what a runner must do because of output, or for lack of it.
type news struct {
	spoke  bool          // tell that the role is ready again
	silent time.Duration // not 0: stop the command, which was silent for so long
}

// start begins to listen to the command that has just been started as pid.
func (l *listener) start(pid int) <-chan news {
	if l == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.end = cancel
	l.command, _ = process.Identify(pid) // without identity it is never seen to be stopped

	told := make(chan news)
	go l.listen(ctx, told)
	return told
}

// stop ends the listening, and a nudge that runs.
func (l *listener) stop() {
	if l != nil && l.end != nil {
		l.end()
	}
}

func (l *listener) listen(ctx context.Context, told chan<- news) {
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-l.nudging:
			l.nudged(ctx, err)
			continue
		case <-time.After(time.Until(last.Add(l.clock.Limits.Every()))):
		}

		now := time.Now()
		n := l.look(ctx, now.Sub(last))
		last = now
		if n == (news{}) {
			continue
		}
		select {
		case told <- n:
		case <-ctx.Done():
		}
	}
}

// look looks once. It reads why the command may be silent before it looks at the output: what was
// written before the command said that it is idle must not end that.
func (l *listener) look(ctx context.Context, passed time.Duration) (n news) {
	if l.limit != nil {
		l.output.Cut(l.limit)
	}
	if !l.clock.Limits.Given() {
		return n
	}
	excuse := l.role.excuse()
	stopped := process.Stopped(l.command)
	grown := l.output.Grown()
	if grown && l.idle != 0 && excuse.idle != 0 {
		l.role.spoke(l.idle)
		n.spoke = true
	}
	l.idle = excuse.idle

	due := l.clock.Look(silence.Look{Passed: passed, Grown: grown,
		Waits: excuse.given() || stopped, Nudging: l.nudging != nil})
	switch due {
	case silence.Nudge:
		l.give(ctx)
	case silence.Stop:
		n.silent = l.clock.Limits.Stop
	}
	return n
}

// give starts to run the nudge.
func (l *listener) give(ctx context.Context) {
	after := l.clock.Limits.Nudge
	l.env.Warnf("%s: no output for %v: running --on-nudge", l.role.name(), after)
	alert := append(append(cli.Object{{"type", "silent"}}, l.role.ids()...),
		cli.Member{"silentForMs", after.Milliseconds()})
	line := strings.TrimSpace(string(l.env.JSONLine(alert)))

	nudging := make(chan error, 1)
	l.nudging = nudging
	go func() {
		_, err := hook.RunIn(ctx, l.nudge, line, l.environment, l.env.Stderr)
		nudging <- err
	}()
}

// nudged takes note of the end of a nudge. Only the first failure is told: the next silence is the
// same again.
func (l *listener) nudged(ctx context.Context, err error) {
	l.nudging = nil
	if err != nil && ctx.Err() == nil && !l.failed {
		l.failed = true
		l.env.Warnf("%s: --on-nudge: %v", l.role.name(), err)
	}
}

// ignoreHere does what n asks for.
func (r *runner) ignoreHere(n news) {
	if n.spoke {
		r.beats.say(observe.Report{})
	}
	if n.silent != 0 {
		r.stop(ending{status: cli.StatusTimeout, silent: true,
			reason: fmt.Sprintf("no output for %v", n.silent)})
	}
}
