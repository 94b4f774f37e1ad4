// Dpl-shutdown asks for a service, and those that depend on it, to be
// stopped.
//
//	dpl-shutdown --group GROUP (--service ID [--only] | --all) [--wait] [--unrecorded] [--timeout D]
//
// Spec §10.4, §11.8.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/shutdown"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	shutdown.Main()
}
