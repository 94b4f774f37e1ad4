// Dpl-push adds a call to an operation, which it creates if necessary.
//
//	dpl-push --participant ID [--op OP] [--call CALL] [flags]
//
// It prints OP CALL (spec §5.1).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/push"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	push.Main()
}
