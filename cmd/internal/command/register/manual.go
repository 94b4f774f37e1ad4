package register

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
)

// Summary is what dpl-register does, in one line.
const Summary = "Register services with their group."

//go:embed examples.txt
var examples string

// Main runs dpl-register.
func Main() {
	start.Stage()
	cli.Main(&register{}, cli.Manual{
		Summary: Summary,
		Usage: `
--group GROUP --service ID [--pid N] [--depends-on ID...] [-- COMMAND [ARG...]]
--group GROUP --service ID --request [--depends-on ID...] [-- COMMAND [ARG...]]
--group GROUP --service ID --remove
--group GROUP --file FILE [--prune]
--group GROUP --resume
--group GROUP --service ID --silence D|off
--group GROUP --service ID --maintenance D|off
`,
		Details: `
With --request, the passes of dpl-orchestrate start COMMAND. Without it, the service is already
running and registers itself: it is judged by the process of --pid; without --pid, or with
--heartbeat, it must send heartbeats from now on, with dpl-heartbeat --group. In both cases
passes start COMMAND again after a failure. COMMAND runs without a shell, in a session of its
own, with DPL_LEDGER, DPL_GROUP, DPL_SERVICE, DPL_ATTEMPT, DPL_REASON and DPL_START; when it ran
before, also with DPL_EXIT_CODE, DPL_EXIT_STATUS and DPL_RESTART_FILE. Its output goes to
logs/GROUP/ID.log; show it with dpl-status --log. Registering a service again brings it back if
it is dead, stopped or completed. Without COMMAND, that changes only the given settings. With
COMMAND, all others are set back to their defaults, except those of --depends-on,
--depends-on-completed, --restart, --kill-timeout, --alert-on, --on-dead and --keep-ended; a
message names those that are lost. If no orchestrator is active, dpl-register makes one pass
itself. With --file, the services in FILE become as it says, in one edit; one that already is
stays as it is, whatever its state. --dry-run prints what would change.
`,
		Flags: `
budget
	stop it once a start has spent more than N of NAME, such as tokens=100000, as it says
	with dpl-heartbeat --spend; of cpuMs and rssKb, CPU time and peak memory, as passes
	measure; repeat for other names
budget-action
	what follows: it is dead, or restarts as after a failure, with nothing spent (terminal)
soft-timeout
	ask it for a checkpoint once it has run for D, by status 6 of its dpl-heartbeat; 0 means
	never (0)
timeout
	stop it once it has run for D, and restart it as after a failure; 0 means never (0)
soft-signal
	also send it SIG when it is asked: HUP, INT, QUIT or ALRM; it has not succeeded if it
	dies by that (none)
stuck
	ask it for a checkpoint after SOFT without dpl-heartbeat --progress, and stop it after
	HARD; 0 means never (0,0)
group
	group of services
service
	service
file
	register all services in FILE, a JSON file; - is standard input
prune
	with --file: stop and remove all services that are not in FILE
pid
	the service's process, which registers itself
request
	the service does not run yet: the next pass starts it with COMMAND
child-group
	the service is the group ID: passes over GROUP also make those over ID, start it anew
	after it has ended, and end it when the service stops
depends-on
	service that must run before this one is started
depends-on-completed
	service that must have completed before this one is started
restart
	permanent: restart it whenever it ends (default); transient: after a failure, and it has
	completed if it succeeds (where services have no keeper, run COMMAND under dpl-run,
	which sees that); temporary: never
exit-status
	ends of CLASS: success, tempfail (restart later, not charged), failure, persistent
	(restart once) or terminal (never restart). LIST has statuses, ranges such as 100-109,
	signals such as SIGSEGV, and unknown, separated by commas
env
	variable for COMMAND besides PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, LC_* and
	TZ, which it gets with their current values; NAME alone takes the current value
env-file
	file with a line NAME=VALUE for each further variable, such as a secret. Each start
	reads it, and the ledger does not get it. It replaces the variables above, and --env
	replaces its variables
dir
	working directory of COMMAND (the current one)
max-attempts
	restart it up to N times; -1 means no limit (5)
backoff
	delays before restarts; the last one repeats (0,1s,5s,15s,1m). 2s..1m doubles them from
	2s up to 1m, and 2s*3..1m triples them
jitter
	add up to P percent to each delay, a different part after each failure (0%)
deadline
	give it up instead of a restart more than D after its first failure since it was
	healthy; 0 means never (0)
intensity
	give it up when more than N of its ends within D were charged, such as 3/5m; 0/0 removes
	that limit
reset-after
	reset the number of restarts once it has run for D (5m)
kill-timeout
	time from TERM to KILL; 0: KILL at once, and no TERM; infinity: never KILL (5s)
alert-on
	final: raise no alert about it except that it is dead (all)
on-dead
	when it is given up: the others go on (alert), or the group ends (escalate)
significant
	the group may end when this service, which is not permanent, is over: see
	dpl-orchestrate --auto-shutdown
resume
	if the group has ended, let it run again: what its end stopped is started. Alone,
	register nothing
keep-ended
	dpl-cleanup removes it, and its logs, D after it has ended (1h if it is temporary, else
	never)
log-max
	passes rotate its log when it is larger than SIZE, such as 10M; 0 means never (10M)
log-every
	also rotate its log every D, such as 1d: then at midnight UTC; 0 means never (0)
log-keep
	keep N rotated log files, at least 1 (3)
log-compress
	compress rotated log files with gzip, except the newest one; =false takes that back
readiness
	starting: it reports its readiness with dpl-heartbeat --readiness, or as dpl-run
	--notify does
heartbeat
	promise heartbeats: without them it is restarted, even while its process lives
explain
	change nothing, and print after which delays it would be restarted, and when it would be
	given up
fresh
	if neither the orchestrator nor any service shows a sign of life, drop all other
	services; a copy goes to archive/
COMMAND
	program of the service, with its arguments
nofile
	limit of open files of COMMAND, such as 4096, or a soft and a hard one (those of the
	pass)
nice
	nice value of COMMAND, from -20 to 19 (that of the pass)
oom-score-adj
	from -1000 to 1000: how soon the kernel kills COMMAND when memory is short (that of the
	pass)
finish
	command line for sh, after each end of COMMAND, with DPL_EXIT_CODE, DPL_EXIT_STATUS,
	DPL_EXIT_REASON and DPL_EXIT_DETAIL; COMMAND is not started again meanwhile, and with
	status 125 the service is dead
finish-timeout
	how long --finish may take, after which it is killed (5s)
health
	command line for sh that exits 0 while COMMAND works: passes run it; the service is
	ready once it has succeeded, and restarted when it has failed too often
health-every
	how often passes run --health, at most (10s); just after a start, until it has
	succeeded, every second
health-failures
	failures in a row after which it is restarted (3)
health-start
	how long after a start failures do not count, until --health has succeeded (1m)
preflight
	command line for sh, before each start: with status 0, COMMAND begins; with 75, or if it
	takes too long, it is asked again later; with another, the service is dead
maintenance
	register nothing: for D, at most 7d, passes leave the service alone, except for a stop
	or restart that is asked for; services that depend on it wait
silence
	register nothing: for D, at most 7d, give no hook alerts about the service; they are
	still written. If it is in trouble when the silence ends, there is one alert
`,
		Exits: `
0
64
65
66
69
	The process of --pid is dead.
70
71
73
74
75
76
	Refused: the dependencies would form a cycle, one in FILE is missing, another process is
	registered and alive, no command is known to start it, it is being shut down, its group
	has ended (--resume), or (--remove) it is running or others depend on it. Nothing has
	changed.
77
78
`,
		Examples: examples,
	})
}
