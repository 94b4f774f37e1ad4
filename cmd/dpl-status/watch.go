package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/fileops"
)

// What the terminal is told: to draw apart from what is on it, without a cursor and without breaking lines; and back.
const (
	enter     = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave     = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
)

// errNoTerminal is the error of a watch that nobody would see.
var errNoTerminal = cli.Usagef("--watch draws on a terminal, and stdout is none: dpl-watch prints what happens, line by line")

// watch draws the subject over and over, in place: when a file of it has changed, and every second for the ages. It returns when the
// operation is over, and leaves the last drawing behind. A signal ends it as it would end any program, with the terminal as it was.
func (s *reporter) watch(what subject) error {
	if _, _, terminal := terminalSize(); !terminal {
		return errNoTerminal
	}
	if p, err := s.draw(what, screen()); err != nil || p.over != "" {
		io.WriteString(s.env.Stdout, farewell(what, p))
		return err // there is nothing to watch
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

// farewell returns what stays of an operation that is over.
func farewell(what subject, p picture) string {
	if p.over == "" {
		return ""
	}
	return fmt.Sprintf("%s\n%s is over: %s\n", p.text, what.op, p.over)
}

// A watcher draws one subject.
type watcher struct {
	*reporter
	subject     subject
	notifier    *fileops.Notifier
	ops, groups []string // that notifier is for
}

// run draws until the operation is over, and returns what is to stay.
func (w *watcher) run(signals *signals) (last string, err error) {
	const tick = time.Second
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for {
		changed := w.arm()
		p, err := w.draw(w.subject, screen())
		if err != nil {
			return "", err
		}
		if p.over != "" {
			return farewell(w.subject, p), nil
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

// settle is how long a storm of changes is let go on before it is drawn: nobody reads faster.
const settle = 100 * time.Millisecond

// arm returns what tells when a file changes that the subject is drawn from. Of the list it is the operations and groups that
// are there now.
func (w *watcher) arm() <-chan struct{} {
	var ops, groups []string
	switch {
	case w.subject.group != "":
		groups = []string{w.subject.group}
	case w.subject.op != "":
		ops = []string{w.subject.op}
	default:
		const most = 64 // there are only so many watches
		ops, _ = w.ledger.IDs()
		groups, _ = w.ledger.Groups()
		ops = ops[:min(len(ops), most)]
		groups = groups[:min(len(groups), most-len(ops))]
	}
	if w.notifier == nil || !slices.Equal(ops, w.ops) || !slices.Equal(groups, w.groups) {
		w.unwatch()
		w.notifier, w.ops, w.groups = w.ledger.Notify(ops, groups), ops, groups
	}
	w.notifier.Arm()
	return w.notifier.C()
}

func (w *watcher) unwatch() {
	if w.notifier != nil {
		w.notifier.Close()
	}
}

// frameOf returns what makes the terminal show p in place of what it shows, as far as it has lines.
func frameOf(p picture, now time.Time) string {
	style := screen()
	_, height, _ := terminalSize()
	lines := strings.Split(strings.TrimSuffix(p.text, "\n"), "\n")
	if p.text == "" {
		lines = []string{"nothing there"}
	}
	for _, err := range p.warnings {
		lines = append(lines, view.Clean(err.Error()))
	}
	foot := fmt.Sprintf("%s, every second and at every change; Ctrl-C ends this", now.Format(time.TimeOnly+"Z07:00"))
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
