package orchestrate

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
)

// Summary is what dpl-orchestrate does, in one line.
const Summary = "Make one pass over a group of services."

//go:embed examples.txt
var examples string

// Main runs dpl-orchestrate.
func Main() {
	start.Stage()
	cli.Main(&orchestrate{}, cli.Manual{
		Summary: Summary,
		Usage: `
--group GROUP [--on-alert CMD] [--staleness D] [--every D | --rounds N] [--strategy STRATEGY] [--intensity N/D --on-intensity escalate|park|delay]
`,
		Details: `
A pass starts services whose dependencies run, restarts those that have failed once their
backoff is over, and stops those that it was asked to stop. A service has failed if its process
is gone, or if its heartbeats have stopped for --staleness. A pass writes alerts to
GROUP.alerts.jsonl. More passes follow while services wait for others that were started or are
being stopped: see --rounds. Run it from a timer or cron, or keep it running with --every.
--staleness should be at least 2.5 times the time between passes.
`,
		Flags: `
group
	group of services
rounds
	make up to N passes, within 10s, while a service waits for another one that they have
	started or are stopping; not with --every or --after-exit (${default})
owner
	owner of the passes (this user on this host); they stand by while another owner's passes
	are active
staleness
	from now on, a service without a heartbeat for D has failed (10s)
interval
	from now on, services should send a heartbeat every D (2s, or a third of --staleness)
strategy
	from now on, restart a service that failed alone (one_for_one), with all others
	(one_for_all), or with those registered after it (rest_for_one)
window
	from now on, at most N services run at once, and others start in order as those end; 0:
	all
intensity
	from now on, the group stands N failures of its services within D, such as 3/5m;
	--on-intensity says what follows a further one. 0/0 removes that limit
on-intensity
	escalate: the group ends; park: the services that failed are dead; delay: restarts wait
	until the oldest of the failures is D ago
auto-shutdown
	from now on, the group ends when one of its significant services is over
	(any_significant), or all of them (all_significant); never: it does not (never)
on-exit
	from now on, once a service that is started has ended, its keeper makes a pass at once
	(pass), or leaves that to the next one (none)
log
	from now on, the output of services that are started goes to files in the ledger
	(files), or to the journal of systemd (journal) (files)
rule
	from now on, what follows a violation (dpl-report) whose code is MATCH, or begins with
	it before a *: log, notify, warn, pause or reap; the first rule that matches counts
spawn
	how to start services: auto uses systemd-run inside a systemd unit, whose end would kill
	them, and otherwise direct
after-exit
	make a pass only if this start has ended and no pass has seen it; see --on-exit
on-alert
	run sh -c CMD for each alert, with the alert as JSON on stdin; a failure that the same
	pass repairs is one alert, supervisorRestarted. It is killed after 10s. If it hangs or
	exits 75, 126 or 127, it gets the alert again: after 1m, then twice as long each time,
	at most 1h, up to 10 times
`,
		Exits: `
0
64
65
66
70
71
74
75
77
78
`,
		Examples: examples,
	})
}
