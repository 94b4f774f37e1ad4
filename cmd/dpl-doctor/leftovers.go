package main

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/fileops"
)

// leftAlone is the age from which no edit in progress can need a file: an edit gives up its lock
// within seconds.
const leftAlone = time.Minute

// whatLeft describes the leftovers of each kind.
var whatLeft = map[fileops.Kind]string{
	fileops.LockFile:         "a lock file that locks nothing",
	fileops.TempFile:         "a file that a killed edit was writing",
	fileops.TrashFile:        "a file that a killed command was deleting",
	fileops.TmpDirectory:     "the temporary directory of an operation that is gone",
	fileops.ScratchDirectory: "the scratch directory of a killed doctor",
}

// leftovers reports what killed commands have left behind.
func (p *checkup) leftovers() (found []finding) {
	curable := p.opens()
	for _, f := range p.survey.Files {
		age := p.seen.Now.Sub(f.Info.ModTime)
		if !f.Orphaned || age < leftAlone {
			continue
		}

		result := finding{level: warning, object: p.survey.Name(f), text: whatLeft[f.Kind] +
			", for " + span(age), cure: "--fix or dpl-cleanup removes it"}
		if result.fixable = curable && (f.Distrust == nil || p.tightens(f)); !result.fixable {
			result.cure = "it is removed once commands use the ledger again"
		}

		found = append(found, result)
	}

	return found
}

// opens reports whether commands use the ledger, or will once --fix has fixed permissions.
func (p *checkup) opens() bool {
	if p.survey.Refusal == nil {
		return true
	}

	for _, f := range p.survey.Files {
		if (f.Kind == fileops.Marker || f.Kind == fileops.Directory) && f.Distrust != nil &&
			!p.tightens(f) {
			return false
		}
	}

	return errors.Is(p.survey.Refusal, fileops.ErrPermission)
}
