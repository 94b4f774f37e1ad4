package heartbeat

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-heartbeat does, in one line.
const Summary = "Send a heartbeat for a participant, supervisor or service."

//go:embed examples.txt
var examples string

// Main runs dpl-heartbeat.
func Main() {
	cli.Main(&heartbeat{}, cli.Manual{
		Summary: Summary,
		Usage: `
--op OP [--call CALL | --participant ID] [--supervisor ID] [--every D [--while-pid N [--signal SIG]]]
--supervisor ID [--group GROUP] [--op OP] [--every D [--while-pid N [--signal SIG]]]
--service ID --group GROUP [--every D [--while-pid N [--signal SIG]]]
`,
		Details: `
Send one from time to time while you work: its exit status says whether to go on. 0: go on; 3:
the operation is aborted or in cleanup, so clean up and pop, or the service is being shut down;
4: the operation is over; 5: you were declared crashed, or the service dead (register it again);
6: the service is asked for a checkpoint; 66: there is no such call, supervisor or service.
Flags win over the environment; in the environment, a call wins over a participant, and a
participant over a supervisor. Only supervisors and services get output: lines with fields
separated by tabs. A supervisor gets OPERATION CALL HANDLE PARTICIPANT STALE-MS PREVIOUS-STATE
for each crashed call that it has to clean up after (HANDLE is - if there is none), until
dpl-cleanup --ack. A service that is asked for a checkpoint gets: asked CLOCK LEFT-MS, where
LEFT-MS is the time until it is stopped, or -, until its next --note; if it is warned of a
violation, CODE: DETAIL follows.
`,
		Flags: `
call
	send it for this call
participant
	send it for all calls of this participant
supervisor
	send it as this supervisor; without --op, to all operations that name it
group
	send it also as the service of GROUP with the id of the supervisor
service
	with --group: send it only as this service
heartbeat
	with --service or --supervisor: promise further heartbeats; without them it counts as
	dead, even while its process lives
readiness
	readiness to report, for dpl-wait --ready and dependent services; idle is ready with
	nothing to do, so that dpl-run --silence does not count
progress
	with --service: report progress, which sets back the clock of dpl-register --stuck
spend
	with --service or --supervisor: it has spent N more of NAME, such as tokens=600, since
	its last heartbeat
signal
	with --while-pid: send SIG to N, once, when it must clean up or was declared crashed
`,
		Exits: `
0
	The heartbeat is recorded: go on.
3
	The operation is aborted or in cleanup: clean up and pop. For a service: it is being
	shut down, end.
4
5
	The participant was declared crashed; popping still works. The service was declared
	dead: register again.
6
64
65
66
69
	The process of --pid is dead.
70
71
74
75
76
	Refused: another process sends the heartbeats of this call or service; or --cleaning was
	given and the operation is running. Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
