// Dpl-audit shows and verifies the record of a queue, an operation or a
// group: who changed what and when.
//
//	dpl-audit QUEUE [--since TIME] [--until TIME] [--task TASK] [--kind WORD] [--last N]
//	dpl-audit QUEUE --verify [--known HASH...] [--signers FILE]
//	dpl-audit QUEUE --head | --at REVISION | --seal | --note KIND --data FILE
//	dpl-audit --op OP|--group GROUP --on|--off, and as above
//
// Spec §51 to §57, in spec/audit.md.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/audit"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	entry.UseProcessors()
	audit.Main()
}
