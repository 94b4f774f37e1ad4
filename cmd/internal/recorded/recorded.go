// Package recorded verifies the records of objects (spec §55), for dpl-audit and dpl-doctor.
package recorded

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/dpl-project/dpl/cmd/internal/parallel"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Verify reads the record of object, and returns what is wrong with it. known are heads that were kept
// elsewhere. A record without a file of the object is read all the same.
func Verify(object fileops.Audited, known []string) (*audit.Verifier, fileops.AuditEnd, error) {
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
