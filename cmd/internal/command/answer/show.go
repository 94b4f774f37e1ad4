package answer

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// open returns the open questions as of now, oldest first.
func (d *desk) open() (all []*queue.Task, seen queue.Seen, err error) {
	q, seen, err := d.read()
	if err != nil {
		return nil, seen, err
	}
	for _, t := range q.Tasks {
		if t.Ask != nil {
			all = append(all, t)
		}
	}
	return all, seen, nil
}

// list prints the open questions.
func (d *desk) list() error {
	all, seen, err := d.open()
	if err != nil {
		return err
	}
	if d.flags.IDs && !d.env.JSON() {
		for _, t := range all {
			fmt.Fprintln(d.env.Stdout, t.ID)
		}
		return nil
	}
	if d.env.JSON() {
		objects := []cli.Object{}
		for _, t := range all {
			o, err := d.object(t, seen)
			if err != nil {
				return err
			}
			objects = append(objects, o)
		}
		d.env.PrintJSON(cli.Object{{"queueId", d.queue}, {"questions", objects}})
		return nil
	}
	fmt.Fprint(d.env.Stdout, screen.Style().Questions(all, seen))
	return nil
}

// show prints one question, open or not.
func (d *desk) show(id string) error {
	q, seen, err := d.read()
	if err != nil {
		return err
	}
	if id, err = d.find(q, id, seen.Now); err != nil {
		return err
	}

	if t := q.Task(id); t != nil && t.Ask != nil {
		if d.env.JSON() {
			o, err := d.object(t, seen)
			if err == nil {
				d.env.PrintJSON(o)
			}
			return err
		}
		text, err := d.draw(t, seen)
		fmt.Fprint(d.env.Stdout, text)
		return err
	}

	ended, ok := d.ledger.EndedTask(q, id)
	if !ok || ended.Decision == nil {
		return fmt.Errorf("question %q: %w", id, queue.ErrNoTask)
	}
	if d.env.JSON() {
		d.env.PrintJSON(decided(ended))
		return nil
	}
	fmt.Fprint(d.env.Stdout, screen.Style().Decision(ended, seen.Now))
	return nil
}

// draw returns the question t in full, for a person who has to decide.
func (d *desk) draw(t *queue.Task, seen queue.Seen) (string, error) {
	spec, err := d.spec(t)
	if err != nil {
		return "", err
	}
	return screen.Style().Question(t, spec, seen)
}

func (d *desk) object(t *queue.Task, seen queue.Seen) (cli.Object, error) {
	spec, err := d.spec(t)
	if err != nil {
		return nil, err
	}

	var input any
	if spec.Input != "" {
		input = jsontext.Value(spec.Input)
	}
	shown := t.Shown(d.queue).Hash()
	return cli.Object{{"questionId", t.ID}, {"state", t.State}, {"shown", shown},
		{"answer", cli.AnswerCommand(d.queue, t.ID, shown)}, {"text", spec.Text}, {"input", input},
		{"choices", append([]string{}, spec.Choices...)}, {"key", cli.OrNull(t.Key)},
		{"askedAt", wire.FormatTime(t.EnqueuedAt)},
		{"leftMs", t.Expiry().Left(seen.Observation).Milliseconds()},
		{"ask", jsontext.Value(t.Ask.Encode())}}, nil
}

func decided(e queue.Ended) cli.Object {
	return cli.Object{{"questionId", e.ID}, {"end", e.End}, {"at", wire.FormatTime(e.At)},
		{"decision", cli.DecisionJSON(e.Decision)}}
}
