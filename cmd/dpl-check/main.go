// Dpl-check judges an attempt by rules.
//
//	dpl-check FILE [--dir DIR] [--exit N] [--since SNAPSHOT]
//	dpl-check FILE [--dir DIR] --snapshot
//
// It prints the report (spec §41 to §43, in spec/checks.md).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/check"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	entry.UseProcessors()
	check.Main()
}
