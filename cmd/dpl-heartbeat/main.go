// Dpl-heartbeat says that a participant or supervisor is alive, and learns what has become of the
// operation.
//
//	dpl-heartbeat --op OP [--call CALL | --participant ID] [--supervisor ID] [--every D [--while-pid N [--signal SIG]]]
//	dpl-heartbeat --supervisor ID [--group GROUP] [--op OP] [--every D [--while-pid N [--signal SIG]]]
//	dpl-heartbeat --service ID --group GROUP [--every D [--while-pid N [--signal SIG]]]
//
// It exits 3 if the participant is to clean up and pop, 4 if the operation is over, 5 if the
// participant was declared crashed (spec §5.2, §10.3).
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

type heartbeat struct {
	cli.Operation
	call, participant, supervisor string
	group, service                string
	pid                           int
	cleaning, promise             bool
	readiness                     protocol.Readiness
	note                          *string
	every                         time.Duration
	whilePID                      int
	signal                        string
}

func (c *heartbeat) Define(f *cli.FlagSet) {
	c.Operation.Define(f)
	f.String(&c.call, "call", "CALL", "beat for this call ($DPL_CALL)")
	f.String(&c.participant, "participant", "ID", "beat for all calls of this participant ($DPL_PARTICIPANT)")
	f.String(&c.supervisor, "supervisor", "ID", "beat as this supervisor ($DPL_SUPERVISOR); without --op, in all operations that name it")
	f.String(&c.group, "group", "GROUP", "also beat as the service of GROUP that has the supervisor's id ($DPL_GROUP)")
	f.String(&c.service, "service", "ID", "with --group: beat as this service alone ($DPL_SERVICE)")
	f.PID(&c.pid, "pid", "the process that is alive")
	f.Bool(&c.cleaning, "cleaning", "say that the participant is cleaning up")
	f.Bool(&c.promise, "heartbeat", "with --service or --supervisor: promise to go on, so that without heartbeats it is dead, even while its process lives")
	cli.Word(f, &c.readiness, "readiness", "", "what dpl-wait --ready and dependents go by",
		protocol.ReadinessStarting, protocol.ReadinessReady, protocol.ReadinessStopping)
	f.OptionalText(&c.note, "note", "what it is doing, for people")
	f.Duration(&c.every, "every", "beat on, every D", time.Millisecond)
	f.PID(&c.whilePID, "while-pid", "with --every: until process N ends")
	f.String(&c.signal, "signal", "SIG", "with --while-pid: send SIG to N, once, when it is to clean up or was declared crashed")
}

func (c *heartbeat) Run(env *cli.Env) error {
	b, err := c.beater(env)
	if err != nil {
		return err
	}
	if c.every > 0 {
		return c.repeat(env, b)
	}
	status, err := b.beat()
	if err != nil {
		return err
	}
	if status == cli.StatusOver {
		env.NoteOver(b.op)
	}
	return env.ExitAfterCommits(status)
}

func main() {
	cli.Main(&heartbeat{}, "Say that a participant or supervisor is alive.",
		"An id given by a flag counts before all those of the environment; there, a call counts before a participant, and "+
			"that before a supervisor. A supervisor gets a line OPERATION CALL HANDLE PARTICIPANT STALE-MS PREVIOUS-STATE, separated "+
			"by tabs, for each crashed call that it has to clean up, with - for no handle, until it is acknowledged with "+
			"dpl-cleanup --ack. Exits 3 if the operation is aborted or in cleanup: clean up and pop, or if "+
			"the service is being shut down; 4 if the operation is over; 5 if the participant was declared crashed, or the service "+
			"dead: register it again; 66 if there is no such call, supervisor or service.")
}
