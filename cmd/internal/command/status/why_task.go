package status

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
)

// whyTask prints why a task is in its state: what holds it, who has it, how it was tried, and what
// the last attempt has said.
func (s *reporter) whyTask(queueID, task string) error {
	q, err := s.readQueue(queueID)
	if err != nil {
		return err
	}
	t, err := s.task(&q, task)
	if err != nil {
		return cli.Named("status", queueID, task, err)
	}

	path, cut, lines, err := s.lastLines(t)
	if err != nil {
		return cli.Named("log", queueID, task, err)
	}
	o := append(cli.Object{{"queueId", q.ID}}, taskObject(t)...)
	o = append(o, cli.Member{"lastLines", append([]string{}, lines...)})
	headline := fmt.Sprintf("%s: task %s %s.", q.ID, task, explain.Is(t.State()))
	if err := s.answer(o, headline, explain.Task(t), nil); err != nil || s.machine() {
		return err
	}
	if len(lines) > 0 {
		fmt.Fprintf(s.env.Stdout, "The end of %s:\n", harmless.Text(path))
		if cut > 0 {
			fmt.Fprintf(s.env.Stdout, "  ... %d bytes were cut after its first 1M ...\n", cut)
		}
		fmt.Fprintf(s.env.Stdout, "  %s\n", (&printer{}).clean([]byte(strings.Join(lines, "\n  "))))
	}
	return nil
}

// longestLine is how many bytes of a line of a log are printed.
const longestLine = 1000

// lastLines returns the path of the newest log of t, how many bytes were cut out of its middle, and
// its last lines.
func (s *reporter) lastLines(t model.Task) (path string, cut int64, lines []string, err error) {
	const most = 10
	epoch := int64(0)
	for _, a := range t.Attempts {
		if a.Log != "" {
			epoch, path = a.Epoch, a.Log
		}
	}
	if t.Live() && t.Place.Claim != nil {
		epoch = t.Place.Claim.Epoch
		path = s.ledger.AttemptLog(t.Queue.ID, t.ID, epoch)
	}
	if epoch == 0 {
		return "", 0, nil, nil
	}

	text, err := s.ledger.AttemptEnd(t.Queue.ID, t.ID, epoch, most)
	if err == nil {
		cut, err = s.ledger.AttemptCut(t.Queue.ID, t.ID, epoch)
	}
	if text = bytes.TrimRight(text, "\n"); len(text) > 0 {
		lines = strings.Split(string(text), "\n")
		for i, line := range lines {
			lines[i] = harmless.Short(line, longestLine)
		}
	}
	return path, cut, lines, err
}
