// Dpl-answer shows open questions, and answers them.
//
//	dpl-answer [--to NAME] [--ids]
//	dpl-answer ID [--to NAME]
//	dpl-answer ID [--to NAME] [--shown HASH] --allow|--deny [TEXT]
//	dpl-answer ID [--to NAME] [--shown HASH] TEXT
//
// The first answer counts: another one exits 76 (spec §47.2, in spec/questions.md).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/answer"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	entry.UseProcessors()
	answer.Main()
}
