package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/parallel"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
)

// verified returns what is wrong with the record of object.
func verified(object fileops.Audited, known []string) (*audit.Verifier, fileops.AuditEnd, error) {
	v := &audit.Verifier{State: audit.State{Shape: object.Shape}, Known: known}
	end, err := object.Read(func(lines []string) { feed(v, lines) })
	switch {
	case err != nil:
		return v, end, err
	case end.Err != nil && (v.First == 0 || !isMissing(end.Err)):
		return v, end, end.Err
	case end.Err != nil:
		v.Lost(end.Err.Error())
	default:
		v.Rest(end.Rest)
		v.End(end.Chain, end.Text)
	}
	return v, end, nil
}

func isMissing(err error) bool {
	return errors.Is(err, queue.ErrNoQueue) || errors.Is(err, fs.ErrNotExist)
}

// feed gives lines to v. They are parsed on all processors.
func feed(v *audit.Verifier, lines []string) {
	const batch = 256
	type parsed struct {
		audit.Line
		err error
	}
	all := make([]parsed, len(lines))
	parallel.Each((len(lines)+batch-1)/batch, func(mine iter.Seq[int]) {
		for n := range mine {
			for i := n * batch; i < min(len(lines), (n+1)*batch); i++ {
				all[i].Line, all[i].err = audit.Parse(lines[i])
			}
		}
	})
	for _, p := range all {
		v.Line(p.Line, p.err)
	}
}

// verify prints whether the record of object holds.
func (c *auditor) verify(env *cli.Env, object fileops.Audited) error {
	known := make([]string, len(c.Known))
	for i, hash := range c.Known {
		known[i] = string(hash)
	}
	v, end, err := verified(object, known)
	if err != nil {
		return err
	}

	if env.JSON() {
		findings := make([]cli.Object, len(v.Findings))
		for i, f := range v.Findings {
			findings[i] = findingObject(f)
		}
		env.PrintJSON(cli.Object{{"whole", len(v.Findings) == 0}, {"lines", v.Lines},
			{"first", v.First}, {"seq", end.Chain.Seq}, {"head", cli.OrNull(end.Chain.Head)},
			{"findings", findings}})
	} else {
		c.report(env, v, end)
	}
	if len(v.Findings) > 0 {
		return cli.Exit(cli.StatusFalse)
	}
	return nil
}

// report prints what v has found for people, and what it cannot see.
func (c *auditor) report(env *cli.Env, v *audit.Verifier, end fileops.AuditEnd) {
	print := func(format string, args ...any) {
		fmt.Fprintln(env.Stdout, harmless.Text(fmt.Sprintf(format, args...)))
	}
	for _, l := range v.Marks {
		print("note: line %d, of %s: %s", l.Seq, view.Stamp(l.At), marks[l.Verb])
	}
	for _, f := range v.Findings {
		print("%v", f)
	}
	if len(v.Findings) > 0 {
		return
	}

	print("%d lines, from %d to %d: none is changed, missing, forked or torn, and the file is what they say",
		v.Lines, v.First, end.Chain.Seq)
	print("head: %d %s", end.Chain.Seq, end.Chain.Head)
	if len(c.Known) > 0 {
		print("It contains the heads that you have kept: nothing up to them has changed since then.")
		return
	}
	print("This cannot tell whether somebody made the last lines and the file anew, or restored an older " +
		"state of both. Keep heads elsewhere, and give them as --known.")
}

var marks = map[string]string{
	audit.Began:     "the record begins here, with an object that was there before",
	audit.Restored:  "the file had been set back to an older state",
	audit.Unaudited: "a program that keeps no record had edited the object",
	audit.Ended:     "the record was switched off",
}
