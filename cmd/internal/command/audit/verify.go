package audit

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/recorded"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// verify prints whether the record of object holds.
func (c *auditor) verify(env *cli.Env, l *fileops.Ledger, object fileops.Audited) error {
	v := &audit.Verifier{Known: make([]string, len(c.Known))}
	for i, hash := range c.Known {
		v.Known[i] = string(hash)
	}
	signatures, err := c.signatures(l)
	if err != nil {
		return err
	}
	if signatures != nil {
		v.Each = signatures.line
	}
	end, err := recorded.Verify(object, v)
	if err != nil {
		return err
	}
	var signed []signedYes
	if signatures != nil {
		signed = signatures.known
		for _, f := range signatures.wrong {
			v.Add(f)
		}
	}

	if env.JSON() {
		findings := make([]cli.Object, len(v.Findings))
		for i, f := range v.Findings {
			findings[i] = findingObject(f)
		}
		env.PrintJSON(cli.Object{{"whole", len(v.Findings) == 0}, {"lines", v.Lines},
			{"first", v.First}, {"moved", v.Moved}, {"seq", end.Chain.Seq}, {"head", cli.OrNull(end.Chain.Head)},
			{"findings", findings}, {"moreFindings", v.More}, {"signed", objects(signed)}})
	} else if err := c.report(env, v, end, signed); err != nil {
		return err
	}
	if len(v.Findings) > 0 {
		return cli.Exit(cli.StatusFalse)
	}
	return nil
}

func objects(signed []signedYes) []cli.Object {
	all := make([]cli.Object, len(signed))
	for i, y := range signed {
		all[i] = y.object()
	}
	return all
}

// report prints what v has found for people, and what it cannot see.
func (c *auditor) report(env *cli.Env, v *audit.Verifier, end record.End,
	signed []signedYes) error {

	print := func(format string, args ...any) {
		fmt.Fprintln(env.Stdout, harmless.Text(fmt.Sprintf(format, args...)))
	}
	if v.Moved {
		print("note: the record begins with line %d: the sealed parts before it are elsewhere", v.First)
	}
	for _, l := range v.Marks {
		found := func(f audit.Finding) bool { return f.Seq == l.Seq && f.How == audit.How(l.Verb) }
		if slices.ContainsFunc(v.Findings, found) {
			continue
		}
		print("note: line %d, of %s: %s", l.Seq, wire.FormatTime(l.At), mark(l.Verb))
	}
	for _, y := range signed {
		text, err := y.draw(screen.Style())
		if err != nil {
			return err
		}
		fmt.Fprint(env.Stdout, text)
	}
	for _, f := range v.Findings {
		print("%v", f)
	}
	if v.More > 0 {
		print("and %d more findings", v.More)
	}
	if len(v.Findings) > 0 {
		return nil
	}

	print("lines %d to %d are whole, and the file is what they say", v.First, end.Chain.Seq)
	print("head: %d %s", end.Chain.Seq, end.Chain.Head)
	if len(c.Known) > 0 {
		print("It contains the heads that you have kept: nothing up to them has changed since then.")
		return nil
	}
	print("This cannot tell whether somebody made the last lines and the file anew, or restored an older " +
		"state of both. Keep heads elsewhere, and give them as --known.")
	return nil
}

// mark says what a line with that verb means for the lines around it.
func mark(verb string) string {
	switch verb {
	case audit.Began:
		return "the record begins here, with an object that was there before"
	case audit.Restored:
		return "the file had been set back to an older state, or its record had been lost"
	case audit.Unaudited:
		return "the object had been edited without a line; a head that you know is later"
	}
	return "the record was switched off"
}
