package enqueue

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"
)

// batch returns the tasks that the arguments and files say.
func (c *enqueue) batch(env *cli.Env) ([]queue.New, error) {
	if c.File == "" && (c.Command != nil || c.Text != nil) {
		n, err := c.single()
		return []queue.New{n}, err
	}

	requests, err := c.read(env)
	if err != nil {
		return nil, err
	}
	if c.File == "" && len(requests) > 1 && c.About() {
		return nil, cli.Usagef("flags about a task go with one task: %d were read", len(requests))
	}

	batch := make([]queue.New, len(requests))
	for i, r := range requests {
		n := r.New
		n.Replace = c.Replace
		if r.Spec.Dir != "" {
			if r.Spec.Dir, err = filepath.Abs(r.Spec.Dir); err != nil {
				return nil, err
			}
		}
		if err := r.Spec.CanRun(); err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, cli.WithStatus(cli.StatusCorrupt, err))
		}
		if r.Spec.Check, err = rulesOf(r.Spec); err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		n.Spec = r.Spec.Content()
		if _, err := queue.DecodeSpec(n.Spec); err != nil { // its rules are in it, one level deeper
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		if n.ID != "" && n.Key != "" && n.Key != n.ID {
			return nil, fmt.Errorf("task %d: %w", i+1,
				cli.Usagef("taskId and key exclude each other: an id is a key"))
		}
		batch[i] = identified(n)
	}
	return batch, nil
}

// rulesOf returns the rules of a task that somebody has written down, or "".
func rulesOf(s queue.Spec) (rules string, err error) {
	if s.Check == "" {
		rules, err = check.OfTask(s.Unknown)
		if err != nil || rules == "" {
			return "", err
		}
		_, err = check.Decode(rules)
		return rules, err
	}
	if _, err := check.Decode(s.Check); err != nil {
		return "", fmt.Errorf("check: %w", err)
	}
	return s.Check, nil
}

// About reports whether a flag says something about one task.
func (c *enqueue) About() bool {
	return len(c.GivenBesides("queue", "file", "no-create", "replace", "shared", "commit",
		"resource-root")) > 0
}

// identified returns n with an id: that of its key, or a new one.
func identified(n queue.New) queue.New {
	switch {
	case n.ID != "":
		n.Key = ""
	case n.Key != "":
		n.ID = queue.IDOf(n.Key)
	default:
		n.ID = fmt.Sprintf("%010x", rand.Uint64N(1<<40))
	}
	return n
}

// single returns the task of the command line.
func (c *enqueue) single() (n queue.New, err error) {
	if n, err = c.flags(); err != nil {
		return n, err
	}

	s := queue.Spec{Argv: c.Command, Timeout: time.Duration(c.Timeout),
		SoftTimeout: time.Duration(c.SoftTimeout), KillAfter: time.Duration(c.KillAfter)}
	if c.Text != nil {
		s.Text = string(*c.Text)
	}
	if c.Command != nil || c.Dir != "" {
		if s.Dir, err = filepath.Abs(string(c.Dir)); err != nil {
			return n, err
		}
	}
	if err := s.CanRun(); err != nil {
		return n, cli.Usagef("%v", err)
	}
	if c.Check != "" {
		if s.Check, err = readRules(string(c.Check)); err != nil {
			return n, fmt.Errorf("--check: %w", err)
		}
	}
	n.Spec = s.Content()
	return identified(n), nil
}

// readRules returns the rules in the file at path, as one line.
func readRules(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()

	data, err := io.ReadAll(io.LimitReader(f, trust.MaxFile+1))
	if err == nil && len(data) > trust.MaxFile {
		err = trust.TooLarge("a file of rules")
	}
	if err == nil {
		_, err = check.Decode(string(data))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}

	rules := jsontext.Value(data)
	err = rules.Compact()
	return string(rules), err
}

// flags returns what the flags say about a task, besides its spec.
func (c *enqueue) flags() (queue.New, error) {
	return queue.New{
		ID: string(c.ID), Key: string(c.Key), Priority: int64(c.Priority), After: ids(c.After),
		Group: string(c.InGroup), Delay: time.Duration(c.Delay), NotBefore: c.At.Time,
		Expires: time.Duration(c.Expires), MaxAttempts: int64(c.MaxAttempts), Replace: c.Replace,
	}, nil
}

// read returns the tasks in the file, or on standard input.
func (c *enqueue) read(env *cli.Env) ([]queue.Request, error) {
	name, from := "standard input", io.Reader(os.Stdin)
	if c.File == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, cli.Usagef("give -- COMMAND, --text or --file, or tasks on standard input")
	}
	if c.File != "" && c.File != "-" {
		f, err := os.Open(string(c.File))
		if err != nil {
			return nil, fmt.Errorf("--file: %w", err)
		}
		defer f.Close()
		name, from = string(c.File), f
	}

	data, err := c.readAll(from, env.Stderr)
	if err == nil && len(data) > trust.MaxFile {
		err = trust.TooLarge("a file of tasks")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	requests, err := queue.DecodeRequests(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f, is := from.(*os.File); is && len(requests) == 0 && term.IsTerminal(int(f.Fd())) {
		env.Warnf("%s: there was no task", c.Queue)
	}
	return requests, nil
}
