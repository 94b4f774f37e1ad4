package doctor

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/recorded"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/survey"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// audit reports records with changed or missing lines.
func (p *checkup) audit() (found []finding) {
	for _, f := range p.files {
		object, err := fileops.Audited{}, fileops.ErrNoRecord
		switch {
		case f.Queue != nil && f.Queue.Audit.Seq > 0:
			object, err = p.survey.Ledger.AuditedQueue(f.Queue.ID)
		case f.Operation != nil && f.Operation.Audit.Seq > 0 && f.Kind == layout.OperationFile:
			object, err = p.survey.Ledger.AuditedOperation(f.Operation.ID)
		case f.Registry != nil && f.Registry.Audit.Seq > 0 && f.Kind == layout.SupervisorsFile:
			object, err = p.survey.Ledger.AuditedGroup(f.ID)
		}
		if err != nil {
			continue // it has none, or its name is reported as that of a file
		}

		name := p.survey.Name(survey.Found{Path: object.Log})
		v, _, err := recorded.Verify(object, nil)
		if err != nil {
			found = append(found, problem.about(name, err.Error(), ""))
			continue
		}
		found = append(found, findingsOf(name, v.Findings)...)
		if v.Moved {
			found = append(found, note.about(name, fmt.Sprintf("the record begins with line %d: the sealed "+
				"parts before it are elsewhere", v.First), ""))
		}
		for _, l := range v.Marks {
			if l.Verb == audit.Restored {
				found = append(found, note.about(name, fmt.Sprintf("line %d, of %s: the file was set back "+
					"to an older state", l.Seq, wire.FormatTime(l.At)), ""))
			}
		}
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
