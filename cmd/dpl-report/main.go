// Dpl-report reports what a service has spent, or that it has violated a
// rule.
//
//	dpl-report --group GROUP --service ID [--spend NAME=N] [--violation CODE [--detail TEXT]]
//
// Spec §27.3.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/report"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	report.Main()
}
