// Package recorded verifies the records of objects (spec §55), for dpl-audit and dpl-doctor.
package recorded

import (
	"iter"

	"github.com/dpl-project/dpl/cmd/internal/parallel"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
)

// Verify is object.Verify on all processors.
func Verify(object fileops.Audited, known []string) (*audit.Verifier, fileops.AuditEnd, error) {
	return object.Verify(known, feed)
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
