package check

import (
	"fmt"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/protocol/check"
)

// status returns the exit status for v.
func status(v check.Verdict) int {
	switch v {
	case check.Passed:
		return cli.StatusOK
	case check.Failed:
		return cli.StatusFalse
	}
	return cli.StatusBusy
}

// object returns r as JSON (spec §42).
func object(r check.Report) cli.Object {
	return cli.Object{{"verdict", r.Verdict()}, {"looked", r.Looked}, {"failed", objects(r.Failed)},
		{"uncertain", objects(r.Uncertain)}}
}

func objects(findings []check.Finding) []cli.Object {
	all := []cli.Object{}
	for _, f := range findings {
		o := cli.Object{{"rule", f.Rule}}
		for _, m := range []cli.Member{{"file", f.File}, {"want", f.Want}, {"found", f.Found},
			{"output", f.Output}} {
			if m.Value() != "" {
				o = append(o, m)
			}
		}
		all = append(all, o)
	}
	return all
}

// text returns r for people: the verdict, and a line for each finding.
func text(r check.Report) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: looked at %d\n", r.Verdict(), r.Looked)
	for _, f := range r.Failed {
		out.WriteString(line("failed", f))
	}
	for _, f := range r.Uncertain {
		out.WriteString(line("uncertain", f))
	}
	return out.String()
}

// line returns one finding. The output of the command was shown when it came.
func line(what string, f check.Finding) string {
	words := []string{"  " + what, f.Rule}
	for _, word := range []string{f.File, f.Want} {
		if word != "" {
			words = append(words, word)
		}
	}
	return harmless.Text(strings.Join(words, " ")+": "+f.Found) + "\n"
}
