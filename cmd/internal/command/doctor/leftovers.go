package doctor

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
)

// leftAlone is the age from which no edit in progress can need a file: an edit gives up its lock
// within seconds.
const leftAlone = time.Minute

// whatLeft describes the leftovers of a kind.
func whatLeft(kind layout.Kind) string {
	switch kind {
	case layout.LockFile:
		return "a lock file that locks nothing"
	case layout.TempFile:
		return "a file that a killed edit was writing"
	case layout.TrashFile:
		return "a file that a killed command was deleting"
	case layout.TmpDirectory:
		return "the temporary directory of an operation that is gone"
	case layout.ScratchDirectory:
		return "the scratch directory of a killed doctor"
	}
	return ""
}

// leftovers reports what killed commands have left behind.
func (p *checkup) leftovers() (found []finding) {
	curable := p.opens()
	for _, f := range p.survey.Files {
		age := p.seen.Now.Sub(f.Info.ModTime)
		if !f.Orphaned || age < leftAlone {
			continue
		}

		result := warning.about(p.survey.Name(f), whatLeft(f.Kind)+", for "+span(age),
			"--fix or dpl-cleanup removes it")
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
		if (f.Kind == layout.MarkerFile || f.Kind == layout.Directory) && f.Distrust != nil &&
			!p.tightens(f) {
			return false
		}
	}

	return errors.Is(p.survey.Refusal, fileops.ErrPermission)
}
