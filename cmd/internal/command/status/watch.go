package status

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/pager"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
)

// Escape sequences: enter switches to another screen without a cursor and without wrapping, and
// leave switches back.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// errNoTerminal returns the error that stdout is not a terminal.
func errNoTerminal() error {
	return cli.Usagef("--watch needs a terminal on stdout: dpl-watch prints what " +
		"happens, line by line, and --html writes a page")
}

// watch redraws the subject in place whenever one of its files changes, and every second for the
// ages, and does what is typed. It returns when the person quits, or when the operation or queue is
// over, and then leaves the last drawing on the terminal. A signal ends it as any program, with the
// terminal restored.
func (s *reporter) watch(what subject) error {
	if _, _, terminal := screen.Size(); !terminal {
		return errNoTerminal()
	}

	p, err := s.look(what)
	if err != nil {
		return err
	}
	if p.over() != "" {
		io.WriteString(s.env.Stdout, p.farewell())
		return nil
	}

	v := &viewer{watcher: watcher{reporter: s, subject: what}, signals: catchSignals(), keys: screen.NewKeyboard()}
	defer v.signals.restore()
	defer v.unwatch()

	v.enter()
	defer func() { v.leave(); io.WriteString(s.env.Stdout, v.last) }()
	return v.run()
}

// farewell returns the text that stays on the terminal when the subject is over.
func (p picture) farewell() string {
	return fmt.Sprintf("%s\n%s is over: %s\n", p.draw(screen.Style()), p.op+p.queue, p.over())
}

// A viewer shows a subject to a person at a terminal.
type viewer struct {
	watcher
	signals *signals
	keys    *screen.Keyboard
	rest    string // the beginning of a key
	pager   pager.Pager
	style   table.Style
	picture picture
	last    string // the text to leave on the terminal
}

func (v *viewer) enter() {
	v.pager.Deaf = !v.keys.Take()
	io.WriteString(v.env.Stdout, enter)
}

// leave returns the keyboard first: what is typed once the shell is visible again is for the shell.
func (v *viewer) leave() {
	v.keys.Return()
	io.WriteString(v.env.Stdout, leave)
}

// run shows the subject until it is over, or the person quits.
func (v *viewer) run() (err error) {
	const usual = time.Second // between two looks
	clock := time.NewTicker(usual)
	defer clock.Stop()

	for {
		changed := v.arm()
		if v.picture, err = v.look(v.subject); err != nil {
			return err
		}
		if v.picture.over() != "" {
			v.last = v.picture.farewell()
			return nil
		}

		v.fill()
		if quit, err := v.attend(changed, clock.C); quit || err != nil {
			return err
		}
	}
}

// attend shows what was seen last, and does what the person and signals ask for, until it is time
// to look again. It reports whether the person has quit.
func (v *viewer) attend(changed <-chan struct{}, clock <-chan time.Time) (quit bool, err error) {
	const settle = 100 * time.Millisecond // a burst of changes is drawn once; nobody reads faster
	var settled <-chan time.Time
	for {
		_, v.pager.Height, _ = screen.Size()
		if _, err := io.WriteString(v.env.Stdout, v.pager.Frame(v.style.Foot)); err != nil {
			return false, err
		}

		select {
		case <-changed:
			changed, settled = nil, time.After(settle)
		case <-settled:
			return false, nil
		case <-clock:
			return false, nil
		case <-v.signals.resized:
			v.fill()
		case text := <-v.keys.Typed():
			if v.press(text) {
				return true, nil
			}
		case <-v.signals.stopped:
			v.leave()
			v.signals.stop()
			v.enter()
		case <-v.signals.continued: // after a stop that could not be noticed
			v.enter()
		case sig := <-v.signals.ended:
			v.leave()
			v.signals.die(sig)
		}
	}
}

// press does what was typed, and reports whether the person has quit.
func (v *viewer) press(text string) (quit bool) {
	unfolded := v.pager.Unfolded
	var keys []pager.Key
	keys, v.rest = pager.Keys(v.rest + text)
	for _, k := range keys {
		if v.pager.Press(k) {
			return true
		}
	}
	if v.pager.Unfolded != unfolded {
		v.fill()
	}
	return false
}

// fill gives the pager the lines of the picture.
func (v *viewer) fill() {
	v.style = screen.Style()
	style := v.style
	style.Colour, style.Fold = true, !v.pager.Unfolded
	text := cmp.Or(v.picture.draw(style), "nothing there")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")

	for _, err := range v.picture.warnings {
		lines = append(lines, style.Bad(harmless.Text(err.Error())))
	}

	v.pager.Trouble = nil
	for i, line := range lines {
		if style.IsBad(line) {
			v.pager.Trouble = append(v.pager.Trouble, i)
		}
		if !v.style.Colour {
			lines[i] = pager.Plain(line)
		}
	}
	v.pager.Lines = lines
	v.pager.Foot = v.env.Now().Format(time.TimeOnly + "Z07:00")
}
