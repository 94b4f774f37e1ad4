package run

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

// Summary is what dpl-run does, in one line.
const Summary = "Run a command as a call of an operation."

//go:embed examples.txt
var examples string

// Main runs dpl-run.
func Main() {
	job.Keep(keepOn)
	cli.Main(&run{}, cli.Manual{
		Summary: Summary,
		Usage: `
[--op OP] [--call CALL] [--participant ID] [flags] [--] COMMAND [ARG...]
--group GROUP --service ID [flags] [--] COMMAND [ARG...]
--queue QUEUE --once|--until-empty|--until-done|--follow [--jobs N] [flags] [-- WORKER [ARG...]]
`,
		Details: `
Starts COMMAND, lets the others know that it is alive, and tells them how it ended. If another
call of the operation fails or crashes, or the operation is aborted, COMMAND gets TERM, and KILL
if it does not end. The operation fails unless COMMAND exits 0 or as in --ok. Pipes of COMMAND
then stay open until the others have ended, so none of them takes the end of its input for
success. A dpl-run inside COMMAND joins the operation; any other one begins its next run, and
refuses to overlap one. COMMAND has the same terminal, stdin, stdout and stderr, but its own
process group, to which signals are passed on. Its environment has DPL_OP, DPL_CALL,
DPL_PARTICIPANT, DPL_LEDGER and DPL_TMP, a directory that is deleted when the call ends. Exits
as COMMAND does, with 128+N if signal N killed it; 3 if the operation was aborted, or failed for
another reason than COMMAND; 4 if it is over; 75 if it is running already; 5 if the call was
declared crashed; 124 after a timeout; 125 if dpl-run fails; 126 if COMMAND cannot be executed;
127 if there is none. COMMAND may exit with these as well; --status-fd says whose status it is.
`,
		Flags: `
participant
	participant that makes the call (the name of COMMAND)
group
	instead of a call, maintain the registration of --service in GROUP
service
	with --group: the service that COMMAND runs
caller-decides
	if a call has made this one, and COMMAND fails but was not killed: leave it to that call
	whether the operation fails
queue
	instead of one call, do tasks of QUEUE, each as the call of an operation of its own
until-done
	with --queue: do tasks, and wait for those that are delayed or held by other workers,
	until only a person can make another one ready
jobs
	with --queue: do N tasks at a time (${default})
on-alert
	with --queue: run sh -c CMD for each halt, each task that is dead, and when it cannot
	work, with the alert as JSON on stdin; kill it after 10s
on-failure
	if dpl-run begins the operation, and it fails or is aborted: run sh -c CMD once, with
	what happened as JSON on stdin; kill it after 10s
wait
	if the operation is running: wait until it has ended, at most D (or infinity), then
	begin its next run
join
	if the operation is running: add a call to it (the default where $DPL_OP names it)
no-rerun
	exit 4 if the operation has ended before: its work must happen only once
keep-resources
	with --resource: keep them if COMMAND fails, as long as dpl-run is there to see it
soft-timeout
	ask COMMAND to end after D, by sending --soft-signal
soft-signal
	signal for --soft-timeout (${default})
kill-after
	time from TERM to KILL (${default})
ok
	successes besides 0: exit statuses, ranges and signals, such as 1,3-5,SIGPIPE
retry
	run COMMAND again in the same call after a failure, up to N times; stdin may be a file,
	but no pipe
backoff
	with --retry: pauses before the next attempt; the last repeats (0,30s,5m)
log-max
	with --queue: when the log of an attempt is larger than SIZE, free what lies between its
	first 1M and its end; at least 2M; 0 means never (10M)
nudge-after
	run --on-nudge when COMMAND has written nothing for D, once in each silence
on-nudge
	with --nudge-after: run sh -c CMD with the variables of COMMAND, and what is silent as
	JSON on stdin; kill it after 10s
silence
	stop COMMAND when it has written nothing for D, and exit 124
output
	with --silence or --nudge-after: a file that COMMAND writes to, besides stdout and
	stderr
status-fd
	at the end, write a line of JSON to file descriptor N that says whose exit status it is
to
	if COMMAND ends well, what it has written to stdout becomes FILE; otherwise FILE is
	unchanged
publish
	if COMMAND ends well, the file SRC in $DPL_TMP becomes DST
notify
	provide COMMAND with a NOTIFY_SOCKET, as systemd does: it is ready once it sends READY=1
watchdog
	with --notify: stop COMMAND if it sends no WATCHDOG=1 for D, starting from its start,
	and exit 124
COMMAND
	program to run, with its arguments
`,
		Exits: `
0
	COMMAND exited 0.
1
	With --queue: tasks are left that are dead, blocked, delayed or held by others. With
	--queue --once: COMMAND exited 0, but the check has not passed.
3
	The operation failed or was aborted for another reason than a failure of COMMAND.
	COMMAND was stopped, or not started, if there was time. With --group: the service is
	being shut down. With --queue: the queue is halted.
4
	The operation is over. With --queue --follow or --once: the queue is completed, or
	closed and empty.
5
	The call was declared crashed, or the service dead, and COMMAND was stopped.
64
66
	With --no-create: no run of the operation is there.
70
75
	The operation is running, and neither --wait nor --join is given; it is still running
	after --wait; or processes of its last run remain. With --queue: tasks are ready, but
	the queue could not be edited in time; with --once also: no task is ready.
76
	--to or --publish on a ledger that commits by link, or a supervisor must clean up first.
	COMMAND was not started.
124
	COMMAND was stopped after --timeout, or by --watchdog.
125
	dpl-run itself failed, for a reason for which another command exits 65 to 78. With
	--queue: five times in a row no task could be begun.
126
	COMMAND cannot be executed.
127
	COMMAND does not exist.
128+N
	Signal N killed COMMAND.
other
	The exit status of COMMAND.
`,
		Examples: examples,
	})
}
