// Dpl-serve runs a command as a service that registers itself.
//
//	dpl-serve [GROUP SERVICE] [flags] -- COMMAND [ARG...]
//
// In a service that dpl-register has started, $DPL_GROUP and $DPL_SERVICE name it. It exits as
// COMMAND does, with 128+N if signal N killed it. It exits 3 if the service had to end, 5 if it was
// declared dead, and 124 if it stopped COMMAND because of a time limit (spec §15.6).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/serve"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	serve.Main()
}
