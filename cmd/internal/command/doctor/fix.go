package doctor

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/fileops"
)

// fix applies --fix to findings, and returns the findings afterwards, beginning with those just
// fixed. With --dry-run it changes nothing and returns findings.
func (p *checkup) fix(findings []finding) ([]finding, error) {
	if p.env.DryRun() || !slices.ContainsFunc(findings, func(f finding) bool { return f.fixable }) {
		return findings, nil
	}

	var failed []finding
	for _, f := range p.survey.Files {
		if !p.tightens(f) {
			continue
		}
		if err := p.survey.Tighten(f); err == nil {
			p.env.NoteCommit()
		} else {
			failed = append(failed, finding{check: "permissions", level: problem,
				object: p.survey.Name(f), text: p.plain(err)})
		}
	}

	if err := p.sweep(); err != nil {
		failed = append(failed, finding{check: "leftovers", level: problem, text: p.plain(err)})
	}

	again, err := newCheckup(p.env)
	if err != nil {
		return nil, err
	}

	after := again.examine()
	done := cured(findings, after)
	if len(done) > 0 {
		p.env.NoteCommit() // what was swept is gone, whether or not that can be printed
	}

	return append(done, append(failed, after...)...), nil
}

// sweep removes what killed commands have left, as dpl-cleanup does. It leaves alone a ledger that
// commands refuse.
func (p *checkup) sweep() error {
	l, err := p.env.Open()
	if errors.Is(err, fileops.ErrPermission) || errors.Is(err, fileops.ErrConfig) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.Sweep()
}

// cured returns the findings in before that are fixed in after.
func cured(before, after []finding) (all []finding) {
	for _, f := range before {
		still := slices.ContainsFunc(after, func(a finding) bool {
			return a.check == f.check &&
				a.object == f.object && a.level != ok
		})
		if f.fixable && !still {
			f.level = fixed
			f.cure = map[string]string{"permissions": "no one else may write to it now",
				"leftovers": "removed"}[f.check]
			all = append(all, f)
		}
	}

	return all
}
