// Dpl-doctor checks a ledger and its file system, and says how to fix what
// it finds.
//
//	dpl-doctor [--quiet] [--json]
//	dpl-doctor --fix [--dry-run]
//
// Without --fix it changes nothing except a scratch directory of its own.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/doctor"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	doctor.Main()
}
