package runner

import (
	"context"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/silence"
)

// News is what a look has found.
type News = news

// Spoke is the news that the command is not idle any more, and Silent that it was silent for d.
func Spoke() News                 { return news{spoke: true} }
func Silent(d time.Duration) News { return news{silent: d} }

// Look looks once, a second after the last time.
func (l *Listener) Look() News { return l.look(context.Background(), time.Second) }

// Nudging returns a channel that gets the end of the nudge that runs, or nil if none does.
func (l *Listener) Nudging() <-chan error { return l.nudging }

// Listening returns a listener that nudges by a command which fails.
func Listening(env *cli.Env, s Subject, ids func() cli.Object, output *silence.Output,
	limits silence.Limits) *Listener {
	return &Listener{env: env, name: "build: work", ids: ids, subject: s, output: output,
		clock: silence.Clock{Limits: limits}, nudge: "exit 3"}
}

// Of makes s the subject.
func (l *Listener) Of(s Subject) { l.subject = s }
