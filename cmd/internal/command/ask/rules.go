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

// applyRules has the rules decide q, which asks for request. All files are read before: one that
// cannot be read, or that the asker could change, decides nothing, and neither do the others.
func (c *ask) applyRules(env *cli.Env, request question.Request, q *queue.Question) error {
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

// trusted returns the path of a file of rules or signers, or of the program that verifies, behind all
// symbolic links. It returns fileops.ErrPermission if this user could change the file, or put another
// one in its place, because of anything that the way to the file leads through. So nothing on that way
// changes until the file is read.
func (c *ask) trusted(path string) (string, error) {
	if c.AllowWritableRules {
		_, err := os.Stat(path)
		return path, err
	}

	left := mostLooks
	at := place{path: "/", exists: true, left: &left}
	info, err := os.Lstat(at.path)
	if err == nil {
		at.way = append(at.way, found{at.path, info})
	}
	if err == nil && !filepath.IsAbs(path) {
		var wd string
		if wd, err = workingDir(); err == nil {
			err = at.walk(wd)
		}
	}
	if err == nil {
		err = at.walk(path)
	}
	if err == nil && !at.exists {
		err = os.ErrNotExist
	}
	for i := len(at.way) - 1; i >= 0 && err == nil; i-- {
		err = at.way[i].check(i == len(at.way)-1)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return at.path, nil
}

// check returns fileops.ErrPermission if this user could change f, or what it says. last: f is the
// file, to which the others lead.
func (f found) check(last bool) error {
	if last && !f.info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not a regular file", fileops.ErrPermission)
	}
	changeable, err := f.changeable()
	planted := false
	if err == nil {
		planted, err = f.planted()
	}
	switch {
	case err != nil:
		return err
	case changeable:
		return fmt.Errorf("%w: who asks could change %s, and so what it may do: let another user own it, "+
			"or give --allow-writable-rules", fileops.ErrPermission, f.path)
	case planted:
		return fmt.Errorf("%w: any user could have put %s there: let root own it, or use a directory in "+
			"which only its owner can write", fileops.ErrPermission, f.path)
	case f.madeUp():
		return fmt.Errorf("%w: %s is in a file system of processes or programs, and who asks could choose "+
			"what it says: use a file on a disk", fileops.ErrPermission, f.path)
	}
	return nil
}
