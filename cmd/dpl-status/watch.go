package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/fileops/notify"
)

// Escape sequences: enter switches to another screen without a cursor and without wrapping, and
// leave switches back.
const (
	enter     = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave     = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
)

// errNoTerminal means that stdout is not a terminal.
var errNoTerminal = cli.Usagef("--watch needs a terminal on stdout: dpl-watch prints what " +
	"happens, line by line")

// watch redraws the subject in place whenever one of its files changes, and every second for the
// ages. It returns when the operation or queue is over, and leaves the last drawing on the
// terminal. A signal ends it as any program, with the terminal restored.
func (s *reporter) watch(what subject) error {
	if _, _, terminal := screen.Size(); !terminal {
		return errNoTerminal
	}

	p, err := s.look(what)
	if err != nil {
		return err
	}
	if p.over() != "" {
		io.WriteString(s.env.Stdout, p.farewell())
		return nil
	}

	signals := heed()
	defer signals.restore()

	w := &watcher{reporter: s, subject: what}
	defer w.unwatch()

	io.WriteString(s.env.Stdout, enter)
	last, err := w.run(signals)
	io.WriteString(s.env.Stdout, leave+last)

	return err
}

// farewell returns the text that stays on the terminal when the subject is over.
func (p picture) farewell() string {
	return fmt.Sprintf("%s\n%s is over: %s\n", p.draw(screen.Style()), p.op+p.queue, p.over())
}

// A watcher draws one subject.
type watcher struct {
	*reporter
	subject  subject
	notifier *notify.Notifier
	// the operations, groups and queues that notifier watches
	ops, groups, queues []string
}

// run draws until the subject is over, and returns the text to leave on the terminal.
func (w *watcher) run(signals *signals) (last string, err error) {
	const tick = time.Second
	clock := time.NewTicker(tick)
	defer clock.Stop()

	for {
		changed := w.arm()
		p, err := w.look(w.subject)
		if err != nil {
			return "", err
		}
		if p.over() != "" {
			return p.farewell(), nil
		}
		if _, err := io.WriteString(w.env.Stdout, frameOf(p, w.env.Now())); err != nil {
			return "", err
		}

		select {
		case <-changed:
			time.Sleep(settle)
		case <-clock.C:
		case <-signals.resized:
		case <-signals.stopped:
			io.WriteString(w.env.Stdout, leave)
			signals.stop()
			io.WriteString(w.env.Stdout, enter)
		case sig := <-signals.ended:
			io.WriteString(w.env.Stdout, leave)
			signals.die(sig)
		}
	}
}

// settle is how long a burst of changes may go on before it is drawn. No one reads faster.
const settle = 100 * time.Millisecond

// arm returns a channel that receives a value when a file of the subject changes. For a list these
// are the files of the operations, groups and queues that exist now.
func (w *watcher) arm() <-chan struct{} {
	var ops, groups, queues []string
	switch {
	case w.subject.queue != "":
		queues = []string{w.subject.queue}
	case w.subject.group != "":
		groups = []string{w.subject.group}
	case w.subject.op != "":
		ops = []string{w.subject.op}
	default:
		const most = 64 // the kernel limits the number of watches
		ops, _ = w.ledger.IDs()
		groups, _ = w.ledger.Groups()
		queues, _ = w.ledger.QueueIDs()
		ops = ops[:min(len(ops), most)]
		groups = groups[:min(len(groups), most-len(ops))]
		queues = queues[:min(len(queues), most-len(ops)-len(groups))]
	}

	if w.notifier == nil || !slices.Equal(ops, w.ops) || !slices.Equal(groups, w.groups) ||
		!slices.Equal(queues, w.queues) {
		w.unwatch()
		w.notifier = w.ledger.NotifyAll(ops, groups, queues)
		w.ops, w.groups, w.queues = ops, groups, queues
	}

	w.notifier.Arm()
	return w.notifier.C()
}

func (w *watcher) unwatch() {
	if w.notifier != nil {
		w.notifier.Close()
	}
}

// frameOf returns the escape sequences that replace the screen with p, cut to the height of the
// terminal.
func frameOf(p picture, now time.Time) string {
	style := screen.Style()
	_, height, _ := screen.Size()
	text := cmp.Or(p.draw(style), "nothing there")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")

	for _, err := range p.warnings {
		lines = append(lines, harmless.Text(err.Error()))
	}

	foot := fmt.Sprintf("%s, every second and at every change; Ctrl-C ends this",
		now.Format(time.TimeOnly+"Z07:00"))
	if room := height - 2; len(lines) > room {
		room = max(room, 0)
		foot = fmt.Sprintf("%d more lines; %s", len(lines)-room, foot)
		lines = lines[:room]
	}

	if height > 1 {
		lines = append(lines, "")
	}

	lines = append(lines, style.Foot(foot))
	var out strings.Builder
	out.WriteString(home)

	for i, line := range lines {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(line + clearLine)
	}

	out.WriteString(clearRest)

	return out.String()
}
