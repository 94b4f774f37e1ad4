package ask

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/question"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// obey has the rules decide q, which asks for request. All files are read before: one that cannot
// be read, or that the asker could change, decides nothing, and neither do the others.
func (c *ask) obey(env *cli.Env, request question.Request, q *queue.Question) error {
	var files []question.Rules
	var names []queue.Rule
	for _, path := range c.Rules {
		real, err := c.trusted(string(path))
		if err != nil {
			return fmt.Errorf("--rules: %w", err)
		}
		rules, name, err := readRules(path, real)
		if err != nil {
			return err
		}
		files, names = append(files, rules), append(names, name)
	}

	v := question.Decide(request, files, evidence(env, request))
	if v.Decision == question.Ask {
		return nil
	}
	rule := names[v.File]
	rule.Number = int64(v.Rule) + 1
	q.Ruled, q.RuledEnd = &rule, queue.EndedAllowed
	if v.Decision == question.Deny {
		q.RuledEnd = queue.EndedDenied
	}
	q.Reason = files[v.File][v.Rule].Reason
	return nil
}

// readRules returns the rules in the file that is named path and is real behind its links, and how
// a decision names the file.
func readRules(path cli.Path, real string) (question.Rules, queue.Rule, error) {
	text, err := cli.Path(real).Read(mostInput)
	if err != nil {
		return nil, queue.Rule{}, fmt.Errorf("--rules: %w", err)
	}
	rules, err := question.Decode(text)
	if err != nil {
		return nil, queue.Rule{}, fmt.Errorf("%s: %w", path, err)
	}
	abs, err := filepath.Abs(string(path))
	return rules, queue.Rule{File: abs, Hash: wire.Hash(text)}, err
}

// evidence returns what rules look at, beside request.
func evidence(env *cli.Env, request question.Request) question.Evidence {
	return question.Evidence{Now: env.Now(), Inside: inside(request.Dir)}
}

// trusted returns the path of the file of rules behind all symbolic links. It returns
// fileops.ErrPermission if this user could change the file, or put another one in its place.
func (c *ask) trusted(path string) (string, error) {
	if c.AllowWritableRules {
		_, err := os.Stat(path)
		return path, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}

	above, err := filepath.Abs(filepath.Dir(path)) // of a link
	if err == nil {
		real, err = filepath.Abs(real)
	}
	for _, at := range []string{real, above} {
		what := ""
		if err == nil {
			what, err = writable(at)
		}
		if err == nil && what != "" {
			err = fmt.Errorf("%s: %w: who asks could change %s, and so what it may do: let another "+
				"user own it, or give --allow-writable-rules", path, fileops.ErrPermission, what)
		}
	}
	return real, err
}
