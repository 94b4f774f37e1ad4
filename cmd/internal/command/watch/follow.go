package watch

import (
	"fmt"
	"io"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/notify"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A follower prints the lines of one file.
type follower struct {
	env      *cli.Env
	name     string
	notifier *notify.Notifier
	// read returns the lines after a revision, the last revision, and whether no more lines will
	// come.
	read func(since int64) (lines []observe.Line, revision int64, last bool, err error)
}

// follower returns a follower for what the flags ask for.
func (c *watch) follower(env *cli.Env) (*follower, error) {
	op, group := string(c.Op), string(c.Group)
	l, err := env.Open()
	if err != nil {
		return nil, err
	}

	if id := string(c.Queue); id != "" {
		return queueFollower(env, l, id, int64(c.Since)), nil
	}

	if group != "" {
		return &follower{env: env, name: group, notifier: l.Notify(nil, []string{group}),
			read: func(since int64) ([]observe.Line, int64, bool, error) {
				g, err := l.ReadGroup(group)
				return g.Lines(since), g.Registry.Revision, false, err
			}}, nil
	}

	return &follower{env: env, name: op, notifier: l.Notify([]string{op}, nil),
		read: func(since int64) ([]observe.Line, int64, bool, error) {
			o, archived, err := l.ReadOperation(op)
			return o.Lines(since), o.Revision, archived || o.State.Terminal(), err
		}}, nil
}

// queueFollower returns a follower of a queue, which keeps no record of its events: what has
// happened is told by the difference between two looks at it.
func queueFollower(env *cli.Env, l *fileops.Ledger, id string, since int64) *follower {
	var last *queue.Queue
	return &follower{env: env, name: id, notifier: l.NotifyQueue(id),
		read: func(int64) ([]observe.Line, int64, bool, error) {
			q, err := l.ReadQueue(id)
			if err != nil {
				return nil, 0, false, err
			}

			var lines []observe.Line
			switch {
			case last != nil:
				ended := q.Counters.Ended() - last.Counters.Ended()
				lines = queue.Changes(*last, l.Lately(q, time.Time{}, int(ended)))
			case since > 0 && since < q.Revision:
				lines = []observe.Line{queue.Gap(q)}
			}
			last = &q
			return lines, q.Revision, false, nil
		}}
}

// run prints the lines after the revision since, until no more will come or, unless it is 0, until
// timeout.
func (f *follower) run(since int64, timeout time.Duration) error {
	defer f.notifier.Close()
	var over <-chan time.Time
	if timeout != 0 {
		over = time.After(timeout)
	}

	unread := cli.ReaderGone()
	for {
		f.notifier.Arm()
		lines, revision, last, err := f.read(since)
		if err != nil {
			return cli.Named("watch", f.name, "", err)
		}
		if !f.print(lines) || last {
			return nil
		}

		since = max(since, revision)
		select {
		case <-f.notifier.C():
		case <-unread:
			return nil
		case <-over:
			return fmt.Errorf("%s: %w after %v", f.name, cli.ErrTimeout, timeout)
		}
	}
}

// print writes the lines of each revision in one piece, and reports whether that succeeded.
func (f *follower) print(lines []observe.Line) bool {
	for i := 0; i < len(lines); {
		text := ""
		for revision := lines[i].Revision; i < len(lines) && lines[i].Revision == revision; i++ {
			text += lines[i].Text + "\n"
		}
		if _, err := io.WriteString(f.env.Stdout, harmless.JSON(text)); err != nil {
			return false // the error is reported at the end
		}
	}

	return true
}
