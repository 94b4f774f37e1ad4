package main

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/fileops"
)

// leftAlone is how old something is that no edit in progress can need: each gives up its lock within seconds.
const leftAlone = time.Minute

// whatLeft says what is left of whom.
var whatLeft = map[fileops.Kind]string{
	fileops.LockFile:         "the lock of nothing",
	fileops.TempFile:         "what a killed edit was writing",
	fileops.TrashFile:        "what a killed command was deleting",
	fileops.TmpDirectory:     "the temporary directory of an operation that is gone",
	fileops.ScratchDirectory: "the scratch directory of a killed doctor",
}

// leftovers says what killed commands have left.
func (p *checkup) leftovers() (found []finding) {
	curable := p.opens()
	for _, f := range p.survey.Files {
		age := p.seen.Now.Sub(f.Info.ModTime)
		if !f.Orphaned || age < leftAlone {
			continue
		}
		result := finding{level: warning, object: p.survey.Name(f), text: whatLeft[f.Kind] + ", for " + span(age), cure: "--fix or dpl-cleanup removes it"}
		if result.fixable = curable && (f.Distrust == nil || p.tightens(f)); !result.fixable {
			result.cure = "it goes once commands use the ledger again"
		}
		found = append(found, result)
	}
	return found
}

// opens reports whether commands use the ledger, or will once permissions are fixed.
func (p *checkup) opens() bool {
	if p.survey.Refusal == nil {
		return true
	}
	for _, f := range p.survey.Files {
		if (f.Kind == fileops.Marker || f.Kind == fileops.Directory) && f.Distrust != nil && !p.tightens(f) {
			return false
		}
	}
	return errors.Is(p.survey.Refusal, fileops.ErrPermission)
}
