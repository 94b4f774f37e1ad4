// Dpl-heartbeat sends a heartbeat for a participant, supervisor or
// service, and reports what has happened to the operation.
//
//	dpl-heartbeat --op OP [--call CALL | --participant ID] [--supervisor ID] [--every D [--while-pid N [--signal SIG]]]
//	dpl-heartbeat --supervisor ID [--group GROUP] [--op OP] [--every D [--while-pid N [--signal SIG]]]
//	dpl-heartbeat --service ID --group GROUP [--every D [--while-pid N [--signal SIG]]]
//
// It exits 3 if the participant must clean up and pop, 4 if the operation is over, and 5 if the
// participant was declared crashed (spec §5.2, §10.3).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/heartbeat"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	heartbeat.Main()
}
