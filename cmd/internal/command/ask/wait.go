package ask

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/hook"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/cmd/internal/signing"
	"github.com/dpl-project/dpl/cmd/internal/statusline"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// errOpen returns an error that says that nobody has answered yet.
func errOpen() error { return cli.ResultIs(cli.StatusBusy, errors.New("the question is open")) }

// An asking waits for the answer to a question.
type asking struct {
	env      *cli.Env
	flags    *ask
	ledger   *fileops.Ledger
	queue    string
	id       string
	question queue.Question
	after    queue.Queue // after the question was asked
	untold   bool        // a person is still to be told of the question
	shown    queue.Shown // what a person is shown of it; zero: it had ended before
	drawn    bool        // this process has drawn the nonce of shown
	signers  string      // path of those who may answer; "": anybody
	verifier string      // path of the ssh-keygen that verifies what they sign
	life     *follow.Life
	ends     time.Time // when --timeout is over, by the clock of this process; zero: it has not asked
}

var errOtherQuestion = errors.New("the key is that of another question: choose another --key")

// ask asks the question, joins it, or finds how it was decided.
func (a *asking) ask() error {
	edit, err := a.env.EditQueue(a.ledger, a.queue, fileops.OrCreate,
		func(before queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			if err := a.life.Err(seen.Observation); err != nil {
				return before, err
			}
			after, a.id, err = session.Ask(before, a.question, seen)
			return after, err
		})
	if errors.Is(err, queue.ErrKnownTask) {
		return cli.WithStatus(cli.StatusRefused, errOtherQuestion)
	}
	if err != nil {
		return err
	}

	if a.ends.IsZero() {
		a.ends = time.Now().Add(a.question.Expires)
	}
	a.after, a.shown, a.drawn, a.untold = edit.After, queue.Shown{}, false, false
	if t := edit.After.Task(a.id); t != nil {
		a.drawn = edit.Before.Task(a.id) == nil
		a.untold = a.drawn
		a.shown = a.mine(t.Shown(a.queue))
	}
	return nil
}

// mine returns shown with all that this process knows better than the ledger: what it asks.
func (a *asking) mine(shown queue.Shown) queue.Shown {
	q := a.question
	shown.Queue, shown.Kind, shown.Spec, shown.Key = a.queue, q.Kind, q.Spec.Hash(), q.Key
	if shown.Scope = ""; q.Key != "" {
		shown.Scope = q.Scope
	}
	return shown
}

// result reports whether the question has ended, and prints the answer. A yes that does not count
// is none: with a key, the question is asked anew. If done is false, an error says why that is not
// known yet.
func (a *asking) result(q queue.Queue) (done bool, err error) {
	if q.Task(a.id) != nil {
		return false, nil
	}
	ended, ok := a.ledger.EndedTask(q, a.id)
	if !ok {
		ended = queue.Ended{ID: a.id, End: queue.EndedWithdrawn}
	}

	if err := a.checkRules(ended); err != nil {
		return true, err
	}
	if why, err := a.take(ended); err != nil {
		return false, err
	} else if why != nil {
		return a.discount(ended, why)
	}
	if a.env.JSON() {
		a.env.PrintJSON(a.object(ended.End, ended.Decision))
	}
	d := ended.Decision
	if d == nil {
		d = &queue.Decision{}
	}
	err = a.status(ended.End, d)
	if err == nil && !a.env.JSON() && d.Answer != "" {
		fmt.Fprintln(a.env.Stdout, d.Answer)
	}
	return true, err
}

// checkRules returns an error for a yes of before that the rules deny now.
func (a *asking) checkRules(e queue.Ended) error {
	q := a.question
	if q.Ruled == nil || q.RuledEnd != queue.EndedDenied || e.End == queue.EndedDenied {
		return nil
	}
	return cli.WithStatus(cli.StatusFalse, fmt.Errorf("%s: %s before, but denied now%s", a.id, e.End,
		(&queue.Decision{Rule: *q.Ruled}).Decider()))
}

// take takes a yes, and leaves a line in the record for it; or returns why the yes does not count.
// What is no yes, and the yes of a rule that this process has read itself, need neither.
func (a *asking) take(e queue.Ended) (why, err error) {
	ruled := a.question.Ruled != nil && a.question.RuledEnd == e.End
	if !e.End.Yes() || ruled {
		return nil, nil
	}
	if why = errors.Join(a.checkShown(e), a.checkSignature(e)); why != nil {
		return why, nil
	}

	_, err = a.env.EditQueue(a.ledger, a.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Take(e, seen) })
	if errors.Is(err, queue.ErrUnrecorded) {
		return err, nil
	}
	return nil, err
}

// checkShown returns an error for a yes to something else than what this process asks, and for that of
// a rule that it has not read: who asks the same with other rules would decide for it.
func (a *asking) checkShown(e queue.Ended) error {
	d := e.Decision
	switch {
	case d != nil && d.Rule.Number != 0:
		return errors.New("it is that of a rule that was not given now")
	case d == nil, d.Kind != a.question.Kind, e.Spec != a.question.Spec.Hash(),
		a.shown != (queue.Shown{}) && d.Shown != a.shown.Hash():
		return errors.New("another question was answered")
	}
	return nil
}

// checkSignature returns an error for a yes that needs a signature and has none that counts.
func (a *asking) checkSignature(e queue.Ended) error {
	if a.signers == "" {
		return nil
	}
	s := queue.Signature{}
	if e.Decision != nil {
		s = e.Decision.Signature
	}
	if s.Text == "" {
		return fmt.Errorf("it has no signature by one of %s", a.signers)
	}

	shown := a.shown
	if !a.drawn {
		shown = a.mine(queue.Shown{ID: a.id, Nonce: s.Nonce, AskedAt: s.AskedAt,
			By: e.Decision.AskedBy, User: s.User})
		if fresh := time.Duration(a.flags.Fresh); a.env.Now().Sub(s.At) > fresh {
			return fmt.Errorf("its signature is of %s, and counts for %v", wire.FormatTime(s.At), fresh)
		}
	}
	if !s.Fits(shown.AskedAt, a.env.Now()) {
		return fmt.Errorf("its signature is of %s, before it was asked, or later than now",
			wire.FormatTime(s.At))
	}
	_, err := signing.Verify(a.verifier, a.signers,
		queue.SignedText(shown.Hash(), e.End, e.Decision.Answer, s.At), s.Text, time.Time{})
	if err != nil {
		return fmt.Errorf("it has no signature by one of %s: %w", a.signers, err)
	}
	return nil
}

// discount asks anew if a yes does not count, and somebody may come back for another one; or else
// returns why.
func (a *asking) discount(e queue.Ended, why error) (done bool, err error) {
	why = fmt.Errorf("%s: %s%s, which does not count: %w", a.id, e.End, e.Decision.Decider(), why)
	if a.flags.Key == "" && !a.flags.Park {
		return true, cli.WithStatus(cli.StatusPermission, why)
	}
	left := time.Until(a.ends)
	if left <= 0 {
		return true, a.timeout()
	}
	a.question.Discounted, a.question.Expires = a.id, left
	if err := a.ask(); err != nil {
		return true, err
	}
	a.env.Warnf("%v: it is asked again as %s", why, a.id)
	return false, nil
}

// status returns the error for an end: nil if it is a yes.
func (a *asking) status(end queue.TaskEnd, d *queue.Decision) error {
	yes := queue.EndedAnswered
	if a.question.Kind == queue.AskPermission {
		yes = queue.EndedAllowed
	}

	switch end {
	case yes:
		return nil
	case queue.EndedDenied:
		why := "denied" + d.Decider()
		if d.Answer != "" {
			why += ": " + d.Answer
		}
		return cli.WithStatus(cli.StatusFalse, fmt.Errorf("%s: %s", a.id, why))
	case queue.EndedAnswered, queue.EndedAllowed:
		return cli.WithStatus(cli.StatusCrashed, fmt.Errorf("%s: it was %s, which is no answer to a %s: "+
			"somebody has edited the file", a.id, end, a.question.Kind))
	case queue.EndedTimedOut:
		return a.errTimeout()
	}
	return cli.WithStatus(cli.StatusCrashed, fmt.Errorf("%s: the question was withdrawn%s", a.id,
		d.Decider()))
}

func (a *asking) errTimeout() error {
	return fmt.Errorf("%s: nobody has answered: %w", a.id, cli.ErrTimeout)
}

// timeout ends this as if the question had timed out.
func (a *asking) timeout() error {
	if a.env.JSON() {
		a.env.PrintJSON(a.object(queue.EndedTimedOut, nil))
	}
	return a.errTimeout()
}

func (a *asking) object(end queue.TaskEnd, d *queue.Decision) cli.Object {
	return cli.Object{{"queueId", a.queue}, {"questionId", a.id}, {"end", cli.OrNull(end)},
		{"decision", cli.DecisionJSON(d)}}
}

// wait waits until the question has ended, and makes the edits that this takes. It ends when --timeout
// is over, whatever the file says of the question: that may have been asked by another process, be
// asked again and again, or have been changed.
func (a *asking) wait(ending *follow.Ending) error {
	most := time.Until(a.ends)
	if a.flags.Wait != 0 {
		most = min(most, time.Duration(a.flags.Wait))
	}
	over := time.After(most)
	f := follow.NewQueueFor(a.life, a.ledger, a.queue)
	defer f.Close()
	line := statusline.New(a.env.Stderr)
	defer line.Erase()

	for late := false; ; {
		f.Arm()
		wasLate := late
		late = time.Until(a.ends) <= 0
		q, err := a.ledger.ReadQueue(a.queue)
		if err != nil {
			return err
		}
		if gone := a.life.Err(a.env.Observer()()); gone != nil {
			if q.Task(a.id) != nil {
				a.withdraw()
			}
			return gone
		}
		done, err := a.result(q)
		if done {
			return err
		}
		a.alert()

		if f.Failed = err != nil; f.Failed && (!cli.Transient(err) || late) {
			return err
		}
		if !f.Failed {
			changed, err := a.pass(q)
			if changed && !wasLate {
				continue
			}
			if f.Failed = err != nil; f.Failed && !cli.Transient(err) {
				return err
			}
		}
		if late { // also if another process holds the lock: it may be there for the same reason
			return a.timeout()
		}
		a.ledger.LookAfter(q, a.env.Program)
		a.life.LookAfter(a.env.Program)
		if line != nil {
			line.Draw(a.id + ": waiting for an answer")
		}
		if f.Wait(q, a.env.Observer(), over, ending.Done()) {
			continue
		}

		if status := ending.Status(); status != 0 {
			a.withdraw()
			return cli.Exit(status)
		}
		if time.Until(a.ends) <= 0 {
			continue
		}
		if a.env.JSON() {
			a.env.PrintJSON(a.object("", nil))
		}
		return fmt.Errorf("%s: after %v %w", a.id, time.Duration(a.flags.Wait), errOpen())
	}
}

// pass makes the edit that the time or somebody's death calls for, and reports whether it did.
func (a *asking) pass(q queue.Queue) (bool, error) {
	after, err := q.Pass(a.ledger.ObserveQueue(q, a.env.Observer()()))
	if err != nil || after.Revision == q.Revision {
		return false, err
	}
	edit, err := a.env.EditQueue(a.ledger, a.queue, fileops.Existing|fileops.Try, queue.Queue.Pass)
	return err == nil && edit.Changed(), err
}

// withdraw withdraws the question, unless somebody may come back for the answer: if not, that is
// judged as for any asker.
func (a *asking) withdraw() {
	if a.flags.Key != "" {
		return
	}
	_, err := a.env.EditQueue(a.ledger, a.queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Withdraw(a.id, a.question.Asker, seen)
		})
	if err != nil {
		a.env.Warnf("%s: %v", a.id, err)
	}
}

// park blocks the task on the question when its attempt has ended.
func (a *asking) park() error {
	who := a.question.Asker
	name := queue.QuestionName(a.queue, a.id)
	_, err := a.env.EditQueue(a.ledger, who.Queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			s := queue.Settlement{Task: who.Task, Epoch: who.Epoch,
				Later:   q.Inside(who.Task, a.env.Variable("DPL_OP")),
				Outcome: queue.Outcome{End: queue.Asked, Reason: a.question.Text, Question: name}}
			return q.Settle(s, seen)
		})
	if err != nil {
		return fmt.Errorf("park %s/%s: %w", who.Queue, who.Task, err)
	}

	a.alert()
	if a.env.JSON() {
		a.env.PrintJSON(a.object("", nil))
	} else {
		fmt.Fprintln(a.env.Stdout, a.id)
	}
	return cli.Exit(cli.StatusBusy)
}

// alert tells a person of a question that was not asked before, once.
func (a *asking) alert() {
	t := a.after.Task(a.id)
	if a.flags.OnAlert == "" || !a.untold || t == nil {
		return
	}
	a.untold = false

	_, err := hook.Run(string(a.flags.OnAlert), a.line(t),
		[]string{"DPL_LEDGER=" + a.ledger.Dir(), "DPL_QUEUE=" + a.queue}, a.env.Stderr)
	if err != nil {
		a.env.Warnf("%s: --on-alert: %v", a.id, err)
	}
}

// mostAlert is the size of the largest spec of a question that an alert has, in bytes.
const mostAlert = 64 << 10

// line returns the alert of t, a line of JSON, with all that a person must see to answer, and the
// command that answers just that.
func (a *asking) line(t *queue.Task) string {
	spec, _ := queue.DecodeAskSpec(a.question.Spec)
	whole := len(a.question.Spec) <= mostAlert
	return wire.Line(func(w *wire.Writer) {
		w.String("type", "asked")
		w.String("queueId", a.queue)
		w.String("questionId", t.ID)
		w.String("kind", string(t.Ask.Kind))
		if !whole {
			w.String("text", t.Ask.Text) // and no hash: nobody is to answer what was not shown
		} else {
			w.String("shown", a.shown.Hash())
			w.String("answer", cli.AnswerCommand(a.queue, t.ID, a.shown.Hash()))
			w.String("text", spec.Text)
			if spec.Input != "" {
				w.Raw("input", spec.Input)
			}
			if spec.Choices != nil {
				w.Strings("choices", spec.Choices)
			}
		}
		w.String("by", t.Ask.By)
		w.OptString("user", t.Ask.User)
		w.OptString("operation", t.Ask.Askers[0].Operation)
		w.OptTime("at", t.EnqueuedAt)
	})
}
