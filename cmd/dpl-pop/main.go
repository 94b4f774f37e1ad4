// Dpl-pop removes a call from an operation.
//
//	dpl-pop --op OP --call CALL [--fail [--reason TEXT] [--delete-resources]] [--keep-open]
//
// It exits 66 and changes nothing if CALL is not open (spec §5.3).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/pop"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	pop.Main()
}
