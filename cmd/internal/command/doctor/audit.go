package doctor

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/recorded"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/survey"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// audit reports records with changed or missing lines.
func (p *checkup) audit() (found []finding) {
	var copied []string
	for _, f := range p.files {
		object, chain, err := fileops.Audited{}, audit.Chain{}, fileops.ErrNoRecord
		switch {
		case f.Queue != nil && f.Queue.Audit.Seq > 0:
			chain = f.Queue.Audit
			object, err = p.survey.Ledger.AuditedQueue(f.Queue.ID)
		case f.Operation != nil && f.Operation.Audit.Seq > 0 && f.Kind == layout.OperationFile:
			chain = f.Operation.Audit
			object, err = p.survey.Ledger.AuditedOperation(f.Operation.ID)
		case f.Registry != nil && f.Registry.Audit.Seq > 0 && f.Kind == layout.SupervisorsFile:
			chain = f.Registry.Audit
			object, err = p.survey.Ledger.AuditedGroup(f.ID)
		}
		if err != nil {
			continue // it has none, or its name is reported as that of a file
		}

		name := p.survey.Name(survey.Found{Path: object.Log})
		v := &audit.Verifier{}
		_, err = recorded.Verify(object, v)
		if err != nil {
			found = append(found, problem.about(name, err.Error(), ""))
			continue
		}
		found = append(found, findingsOf(name, v.Broken())...)
		if v.Moved {
			found = append(found, note.about(name, fmt.Sprintf("the record begins with line %d: the sealed "+
				"parts before it are elsewhere", v.First), ""))
		}
		found = append(found, marksOf(name, v.Marks)...)
		if p.copied(object.Log, chain) {
			copied = append(copied, name)
		}
	}
	if len(copied) > 0 {
		found = append(found, note.about("", fmt.Sprintf("the ledger was cloned, copied or restored: no edit "+
			"has followed in %d of its records, such as %s", len(copied), copied[0]), ""))
	}
	return found
}

// copied reports whether the log at path is not the file that the last edit wrote to.
func (p *checkup) copied(path string, chain audit.Chain) bool {
	return chain.Inode != 0 && slices.ContainsFunc(p.survey.Files, func(f survey.Found) bool {
		return f.Path == path && chain.Inode != f.Info.ID.Number()
	})
}

// marksOf reports the lines that say that the object was changed without a line.
func marksOf(name string, marks []audit.Line) (found []finding) {
	for _, l := range marks {
		what := ""
		switch l.Verb {
		case audit.Restored:
			what = "the file was set back to an older state, or its record was lost"
		case audit.Unaudited:
			what = "the object had been edited without a line: see dpl-audit --verify"
		default:
			continue
		}
		found = append(found, note.about(name, fmt.Sprintf("line %d, of %s: %s", l.Seq,
			wire.FormatTime(l.At), what), ""))
	}
	return found
}

// findingsOf reports the first of the findings about a record.
func findingsOf(name string, all []audit.Finding) []finding {
	if len(all) == 0 {
		return nil
	}
	text := all[0].String()
	if len(all) > 1 {
		text += fmt.Sprintf(", and %d more", len(all)-1)
	}
	return []finding{problem.about(name, text,
		"see dpl-audit --verify; restore the log, or keep it as it is")}
}
