// Dpl-status shows operations, groups and queues, and never changes one.
//
//	dpl-status [--all | --since TIME] [--json]
//	dpl-status OP [--run RUNID] [--check STATE | --why CALL] [--json]
//	dpl-status OP --runs [--json]
//	dpl-status GROUP [--service ID [--check STATE] | --why ID] [--json]
//	dpl-status QUEUE [--check STATE | --why TASK] [--json]
//	dpl-status [--op OP [--check STATE | --why CALL]] [--supervisor ID] [--json]
//	dpl-status --ids [--op OP | --groups | --group GROUP | --queues | --queue QUEUE] [--json]
//	dpl-status --group GROUP [--service ID [--check STATE] | --why ID] [--json]
//	dpl-status --group GROUP --log ID [--follow] [--lines N]
//	dpl-status --queue QUEUE [--check STATE | --why TASK] [--json]
//	dpl-status --groups | --queues [--json]
//	dpl-status [...] --format TEMPLATE
//	dpl-status [--op OP | --group GROUP | --queue QUEUE] --watch | --openmetrics FILE
//	dpl-status [--op OP | --group GROUP | --queue QUEUE] --html FILE [--refresh D] [--watch]
//
// The program is also dpl-answer, dpl-audit and dpl-trace, if it is called so. They are
// not in dpl, because what draws tables and pages, and what few need, takes time to initialize.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/called"
	"github.com/dpl-project/dpl/cmd/internal/command/answer"
	"github.com/dpl-project/dpl/cmd/internal/command/audit"
	"github.com/dpl-project/dpl/cmd/internal/command/status"
	"github.com/dpl-project/dpl/cmd/internal/command/trace"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	entry.UseProcessors()
	become(called.Name())
	if called.Name() != "dpl-status" {
		become(called.File())
	}
	status.Main()
}

// become is the command that is called name, if that is another one of this program.
func become(name string) {
	switch name {
	case "dpl-answer":
		answer.Main()
	case "dpl-audit":
		audit.Main()
	case "dpl-trace":
		trace.Main()
	}
}
