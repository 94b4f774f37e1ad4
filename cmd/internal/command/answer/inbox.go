package answer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/protocol/queue"
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
	f := follow.NewQueue(d.ledger, d.queue)
	f.Idle = true
	defer f.Close()

	passed := make(map[string]bool) // the hashes of the questions that were shown
	for {
		f.Arm()
		t, more, seen, err := d.next(passed)
		if err != nil {
			return err
		}
		if t != nil {
			if err := d.put(t, more, len(passed) == 1, seen); errors.Is(err, errQuit) {
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
		switch shown := other.Shown(d.queue).Hash(); {
		case passed[shown]:
		case t == nil:
			t, passed[shown] = other, true
		default:
			more++
		}
	}
	return t, more, seen, err
}

// put shows t and does what the person says.
func (d *desk) put(t *queue.Task, more int, first bool, seen queue.Seen) error {
	fmt.Fprintln(d.env.Stdout)
	if more > 0 {
		fmt.Fprintf(d.env.Stdout, "After this one: %d more.\n", more)
	}
	long, err := d.present(t, seen)
	if err != nil {
		return err
	}

	for {
		u, err := d.hear(t, first, long)
		switch {
		case errors.Is(err, errSkip):
			return nil
		case errors.Is(err, errUnheard):
			continue
		case err != nil:
			return err
		}
		err = d.decide(t.ID, u, t.Shown(d.queue).Hash())
		if err != nil { // too late, or not allowed: the next one may be
			d.env.Warnf("%v", err)
		}
		if !errors.Is(err, queue.ErrOtherKind) {
			return nil
		}
	}
}

// present draws all of t, and reports whether it is so long that a letter is no yes to it. What
// does not fit on the screen is said to be above, in a line that nothing in t can look like.
func (d *desk) present(t *queue.Task, seen queue.Seen) (long bool, err error) {
	const most = 200 // lines
	text, err := d.draw(t, seen)
	if err != nil {
		return false, err
	}
	fmt.Fprint(d.env.Stdout, text)

	lines := strings.Count(text, "\n")
	_, height, _ := screen.Size()
	long = lines > most
	switch {
	case long:
		fmt.Fprintf(d.env.Stdout, "These are %d lines: read them from %s on. A yes is the word allow.\n",
			lines, t.ID)
	case lines >= height:
		fmt.Fprintf(d.env.Stdout, "These are %d lines: read them from %s on.\n", lines, t.ID)
	}
	return long, nil
}

var (
	errSkip    = errors.New("skip")
	errUnheard = errors.New("it was no answer")
)

// yes returns what a person types for yes: a letter, or the word allow after a long text. What was
// typed for an earlier question is no yes to this one: after the first, a yes takes a digit that
// nobody can know before.
func yes(letter string, first, long bool) string {
	if long {
		letter = "allow"
	}
	if first {
		return letter
	}
	return letter + fmt.Sprint(rand.IntN(10))
}

// hear asks the person what to say to t, which is drawn.
func (d *desk) hear(t *queue.Task, first, long bool) (u utterance, err error) {
	if t.Ask.Kind == queue.AskQuestion {
		return d.hearText(t, first, long)
	}

	yes := yes("y", first, long)
	reply, err := d.prompt(fmt.Sprintf("[%s] allow, [n] deny, [s] skip, [q] quit? ", yes))
	if err != nil {
		return u, err
	}
	switch strings.ToLower(reply) {
	case yes:
		return utterance{allow: true}, nil
	case "n":
		return d.hearWhy()
	case "s":
		return u, errSkip
	case "q":
		return u, errQuit
	}
	fmt.Fprintf(d.env.Stdout, "Type %s, n, s or q.\n", yes)
	return u, errUnheard
}

// hearText asks for the answer to a question. Commands begin with a slash, so that any other text
// is an answer. One that looks like the letter of a permission, is not the first, or is to a long
// text, is asked for again.
func (d *desk) hearText(t *queue.Task, first, long bool) (u utterance, err error) {
	reply, err := d.prompt("answer, or /deny, /skip, /quit? ")
	if err != nil {
		return u, err
	}
	switch strings.ToLower(reply) {
	case "":
		return u, errUnheard
	case "/deny":
		return d.hearWhy()
	case "/skip":
		return u, errSkip
	case "/quit":
		return u, errQuit
	}
	if reply[0] == '/' {
		fmt.Fprintln(d.env.Stdout,
			"Type /deny, /skip or /quit, or an answer that does not begin with a slash.")
		return u, errUnheard
	}

	spec, err := d.spec(t)
	if err != nil {
		return u, err
	}
	if u, err = d.chosen(t, utterance{text: reply}); err != nil {
		d.env.Warnf("%v", err)
		return u, errUnheard
	}
	letter := slices.Contains([]string{"y", "n", "yes", "no"}, strings.ToLower(reply)) &&
		!slices.Contains(spec.Choices, reply)
	if first && !letter && !long {
		return u, nil
	}

	yes := yes("", first && !letter, long)
	fmt.Fprint(d.env.Stdout, "answer:\n", screen.Style().Quote(u.text))
	sure, err := d.prompt(fmt.Sprintf("type %s to give this answer? ", yes))
	if err == nil && !strings.EqualFold(sure, yes) {
		err = errUnheard
	}
	return u, err
}

// hearWhy asks for the reason of a denial.
func (d *desk) hearWhy() (utterance, error) {
	why, err := d.prompt("why (may be empty)? ")
	return utterance{deny: true, text: why}, err
}

// confirm draws t, and asks whether to say u to it. It returns an error for no.
func (d *desk) confirm(t *queue.Task, u utterance, seen queue.Seen) error {
	long, err := d.present(t, seen)
	if err != nil {
		return err
	}
	what := "allow it"
	switch {
	case u.deny:
		what = "deny it"
	case !u.allow:
		what = "give this answer"
		fmt.Fprint(d.env.Stdout, "answer:\n", screen.Style().Quote(u.text))
	}
	yes := yes("y", true, long && u.yes())
	for {
		reply, err := d.prompt(fmt.Sprintf("%s? [%s] yes, [n] no: ", what, yes))
		if errors.Is(err, errQuit) || strings.EqualFold(reply, "n") {
			return cli.WithStatus(cli.StatusFalse, fmt.Errorf("%s: it is not answered", t.ID))
		}
		if err != nil || strings.EqualFold(reply, yes) {
			return err
		}
	}
}

// prompt asks for a line. What was typed before is forgotten. The end of the input is a wish to
// quit.
func (d *desk) prompt(text string) (string, error) {
	flush(os.Stdin)
	fmt.Fprint(d.env.Stdout, text)
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(d.env.Stdout)
		return "", errQuit
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.ToValidUTF8(line, string(unicode.ReplacementChar))), nil
}
