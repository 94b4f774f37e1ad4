package answer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/queue"
	"golang.org/x/term"
)

// interactive reports whether there is a person to be asked for letters.
func (d *desk) interactive() bool {
	return !d.env.JSON() && !d.env.DryRun() && term.IsTerminal(int(os.Stdin.Fd())) &&
		term.IsTerminal(int(os.Stdout.Fd()))
}

// errQuit says that the person has enough.
var errQuit = errors.New("quit")

// inbox shows one open question after the other, and asks what to say. With --follow it waits for
// more.
func (d *desk) inbox() error {
	in := bufio.NewReader(os.Stdin)
	f := follow.NewQueue(d.ledger, d.queue)
	f.Idle = true
	defer f.Close()

	// questions that were shown, by their id and the time they were asked
	passed := make(map[string]bool)
	for {
		f.Arm()
		t, more, seen, err := d.next(passed)
		if err != nil {
			return err
		}
		if t != nil {
			if err := d.put(in, t, more, seen); errors.Is(err, errQuit) {
				return nil
			} else if err != nil {
				return err
			}
			continue
		}

		if !d.flags.Follow {
			fmt.Fprintln(d.env.Stdout, "no more questions")
			return nil
		}
		q, err := d.ledger.ReadQueue(d.queue)
		if err != nil && !errors.Is(err, queue.ErrNoQueue) {
			return err
		}
		f.Wait(q, d.env.Observer(), nil, nil)
	}
}

// next returns the oldest open question that was not shown yet, and how many more there are.
func (d *desk) next(passed map[string]bool) (t *queue.Task, more int, seen queue.Seen, err error) {
	all, seen, err := d.open()
	for _, other := range all {
		switch name := other.ID + other.EnqueuedAt.String(); {
		case passed[name]:
		case t == nil:
			t, passed[name] = other, true
		default:
			more++
		}
	}
	return t, more, seen, err
}

// put shows t and does what the person says.
func (d *desk) put(in *bufio.Reader, t *queue.Task, more int, seen queue.Seen) error {
	text, err := d.draw(t, seen)
	if err != nil {
		return err
	}
	if more > 0 {
		text = strings.Replace(text, "\n", fmt.Sprintf("; %d more\n", more), 1)
	}
	fmt.Fprint(d.env.Stdout, "\n", text)

	for {
		reply, err := d.prompt(in, promptOf(t))
		if err != nil {
			return err
		}
		done, err := d.reply(in, t, reply)
		if err != nil && !errors.Is(err, errQuit) { // too late, or not allowed: the next one may be
			d.env.Warnf("%v", err)
			done, err = !errors.Is(err, queue.ErrOtherKind), nil
		}
		if done || err != nil {
			return err
		}
	}
}

func promptOf(t *queue.Task) string {
	if t.Ask.Kind == queue.AskPermission {
		return "[a]llow, [d]eny, [s]kip, [q]uit? "
	}
	return "answer, or [d]eny, [s]kip, [q]uit? "
}

// reply does what a person has typed, and reports whether the question is dealt with.
func (d *desk) reply(in *bufio.Reader, t *queue.Task, reply string) (done bool, err error) {
	permission := t.Ask.Kind == queue.AskPermission
	switch strings.ToLower(reply) {
	case "":
		return false, nil
	case "s", "skip":
		return true, nil
	case "q", "quit":
		return true, errQuit
	case "d", "deny":
		why, err := d.prompt(in, "why (may be empty)? ")
		if err != nil {
			return true, err
		}
		return true, d.decide(t.ID, false, true, why)
	case "a", "allow":
		if permission {
			return true, d.decide(t.ID, true, false, "")
		}
	}
	if permission {
		return false, nil
	}
	return true, d.decide(t.ID, false, false, reply)
}

// prompt asks for a line. The end of the input is a wish to quit.
func (d *desk) prompt(in *bufio.Reader, text string) (string, error) {
	fmt.Fprint(d.env.Stdout, text)
	line, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(d.env.Stdout)
		return "", errQuit
	}
	if err != nil {
		return "", err
	}
	return harmless.Text(strings.TrimSpace(line)), nil
}
