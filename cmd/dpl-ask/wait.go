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

type queueEdit = session.QueueEdit

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
	asked    bool   // it was not asked before
	signers  string // path of those who may answer; "": anybody
	life     *follow.Life
}

// result reports whether the question has ended, and prints the answer.
func (a *asking) result(q queue.Queue) (done bool, err error) {
	if q.Task(a.id) != nil {
		return false, nil
	}
	ended, ok := a.ledger.EndedTask(q, a.id)
	if !ok {
		ended = queue.Ended{ID: a.id, End: queue.EndedWithdrawn}
	}

	if err := errors.Join(a.checkRules(ended), a.checkSignature(ended)); err != nil {
		return true, err
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

// checkSignature returns an error for a yes that needs a signature and has none. A rule that this
// process has read itself needs none.
func (a *asking) checkSignature(e queue.Ended) error {
	ruled := a.question.Ruled != nil && a.question.RuledEnd == e.End
	if a.signers == "" || !e.End.Decided() || e.End == queue.EndedDenied || ruled {
		return nil
	}

	err := errors.New("it has none")
	if d := e.Decision; d != nil && d.Signature.Text != "" {
		text := queue.SignedText(a.queue, a.id, d.Signature.AskedAt, a.question.Spec.Hash(), e.End,
			d.Answer)
		_, err = signing.Verify(a.signers, text, d.Signature.Text)
	}
	if err != nil {
		return fmt.Errorf("%s: %s%s, which does not count: %w: it needs a signature by one of %s: %w", a.id,
			e.End, e.Decision.Decider(), fileops.ErrPermission, a.signers, err)
	}
	return nil
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
		return fmt.Errorf("%s: nobody has answered: %w", a.id, cli.ErrTimeout)
	}
	return cli.WithStatus(cli.StatusCrashed, fmt.Errorf("%s: the question was withdrawn%s", a.id,
		d.Decider()))
}

func (a *asking) object(end queue.TaskEnd, d *queue.Decision) cli.Object {
	return cli.Object{{"queueId", a.queue}, {"questionId", a.id}, {"end", cli.OrNull(end)},
		{"decision", cli.DecisionObject(d)}}
}

// wait waits until the question has ended, and makes the edits that this takes.
func (a *asking) wait(ending *follow.Ending) error {
	var over <-chan time.Time
	if a.flags.Wait != 0 {
		over = time.After(time.Duration(a.flags.Wait))
	}
	f := follow.NewQueueFor(a.life, a.ledger, a.queue)
	defer f.Close()
	line := statusline.New(a.env.Stderr)
	defer line.Erase()

	for {
		f.Arm()
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
		if done, err := a.result(q); done {
			return err
		}

		changed, err := a.pass(q)
		if changed {
			continue
		}
		if f.Failed = err != nil; f.Failed && !cli.Transient(err) {
			return err
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

// park blocks the task on the question t when its attempt has ended.
func (a *asking) park(t *queue.Task) error {
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

	a.alert(t)
	if a.env.JSON() {
		a.env.PrintJSON(a.object("", nil))
	} else {
		fmt.Fprintln(a.env.Stdout, a.id)
	}
	return cli.Exit(cli.StatusBusy)
}

// alert tells of a question that was not asked before.
func (a *asking) alert(t *queue.Task) {
	if a.flags.OnAlert == "" || !a.asked {
		return
	}

	_, err := hook.Run(string(a.flags.OnAlert), a.line(t),
		[]string{"DPL_LEDGER=" + a.ledger.Dir(), "DPL_QUEUE=" + a.queue}, a.env.Stderr)
	if err != nil {
		a.env.Warnf("%s: --on-alert: %v", a.id, err)
	}
}

// line returns the alert of t, a line of JSON.
func (a *asking) line(t *queue.Task) string {
	asker := t.Ask.Askers[0]
	return wire.Line(func(w *wire.Writer) {
		w.String("type", "asked")
		w.String("queueId", a.queue)
		w.String("questionId", t.ID)
		w.String("kind", string(t.Ask.Kind))
		w.String("text", t.Ask.Text)
		w.String("by", asker.Participant)
		w.OptString("user", asker.User)
		w.OptString("operation", asker.Operation)
		w.OptTime("at", asker.At)
	})
}
