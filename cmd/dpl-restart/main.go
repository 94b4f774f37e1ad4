// Dpl-restart asks for a service, and those that depend on it, to be
// stopped and started again.
//
//	dpl-restart --group GROUP (--service ID [--only] | --all [--completed]) [--wait [--timeout D]]
//	dpl-restart --group GROUP --service ID --continue
//
// Spec §10.5, §27.6.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/restart"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	restart.Main()
}
