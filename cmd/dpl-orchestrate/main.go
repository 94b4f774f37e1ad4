// Dpl-orchestrate makes one pass over a group of services: it starts,
// stops and restarts services as needed.
//
//	dpl-orchestrate --group GROUP [--on-alert CMD] [--staleness D] [--every D | --rounds N]
//		[--strategy STRATEGY] [--intensity N/D --on-intensity escalate|park|delay]
//
// Spec §11.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/orchestrate"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	orchestrate.Main()
}
