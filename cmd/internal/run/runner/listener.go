package runner

import (
	"context"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/silence"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Listener waits for the command to be silent, and nudges it (spec §58). It also limits the log
// of a task. It looks at files, which may take long, so it does that beside the runner. A nil
// listener does nothing.
type Listener struct {
	env         *cli.Env
	name        string
	ids         func() cli.Object
	subject     Subject
	output      *silence.Output
	limit       func() (bool, error) // cuts the log; nil: nothing limits it
	clock       silence.Clock
	nudge       string   // a shell command
	environment []string // of the nudge

	end     context.CancelFunc // nil before start
	command observe.Process
	nudging chan error // gets the end of the nudge that runs; nil: none does
	failed  bool       // a nudge has failed, which is said once
	idle    int64      // Excuse.Idle at the last look
}

// A Subject says why the command may be silent. Both methods are called beside the runner.
type Subject interface {
	Excuse() Excuse

	// Spoke says that there was output since the command was found idle in the file of that
	// revision. The next heartbeat tells that.
	Spoke(revision int64)
}

// NewListener returns a listener with the limits of flags for the command of subject, which is name
// in messages. It looks at output; nil: at nothing. It limits the log of the command by limit,
// unless that is nil.
func NewListener(env *cli.Env, flags *Flags, subject Subject, name string, ids func() cli.Object,
	output *silence.Output, limit func() (bool, error)) *Listener {
	if output == nil {
		output = new(silence.Output)
	} else {
		env.OwnMessages(output.Besides)
	}
	return &Listener{env: env, name: name, ids: ids, subject: subject, output: output, limit: limit,
		clock: silence.Clock{Limits: flags.Limits()}, nudge: string(flags.OnNudge)}
}

// redirect gives the environment of the command to the nudge as well.
func (l *Listener) redirect(environment []string) {
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
func (l *Listener) start(pid int) <-chan news {
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
func (l *Listener) stop() {
	if l != nil && l.end != nil {
		l.end()
	}
}

func (l *Listener) listen(ctx context.Context, told chan<- news) {
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
func (l *Listener) look(ctx context.Context, passed time.Duration) (n news) {
	if l.limit != nil {
		l.output.Cut(l.limit)
	}
	if !l.clock.Limits.Given() {
		return n
	}
	excuse := l.subject.Excuse()
	stopped := process.Stopped(l.command)
	grown := l.output.Grown()
	if grown && l.idle != 0 && excuse.Idle != 0 {
		l.subject.Spoke(l.idle)
		n.spoke = true
	}
	l.idle = excuse.Idle

	due := l.clock.Look(silence.Look{Passed: passed, Grown: grown,
		Waits: excuse.Given() || stopped, Nudging: l.nudging != nil})
	switch due {
	case silence.Nudge:
		l.give(ctx)
	case silence.Stop:
		n.silent = l.clock.Limits.Stop
	}
	return n
}

// give starts to run the nudge.
func (l *Listener) give(ctx context.Context) {
	after := l.clock.Limits.Nudge
	l.env.Warnf("%s: no output for %v: running --on-nudge", l.name, after)
	alert := append(append(cli.Object{{"type", "silent"}}, l.ids()...),
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
func (l *Listener) nudged(ctx context.Context, err error) {
	l.nudging = nil
	if err != nil && ctx.Err() == nil && !l.failed {
		l.failed = true
		l.env.Warnf("%s: --on-nudge: %v", l.name, err)
	}
}
