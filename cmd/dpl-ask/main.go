// Dpl-ask asks a person, and waits for the answer.
//
//	dpl-ask TEXT [--input FILE] [--rules FILE...] [--to NAME] [--timeout D]
//	dpl-ask TEXT --kind question|--choice TEXT... [--to NAME] [--timeout D]
//	dpl-ask TEXT --key KEY --wait D
//	dpl-ask TEXT --park
//	dpl-ask --explain-rules --rules FILE... [--input FILE]
//
// It exits 0 if the question was answered, or the permission given. Any other status is no (spec
// §46 to §48, in spec/questions.md).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/ask"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	ask.Main()
}
