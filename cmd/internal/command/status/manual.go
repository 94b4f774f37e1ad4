package status

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

//go:embed examples.txt
var examples string

// Main runs dpl-status.
func Main() {
	cli.Main(&status{}, cli.Manual{
		Summary: "Show operations, groups of services, and queues of tasks.",
		Usage: `
[--all | --since TIME] [--json]
OP [--run RUNID] [--check STATE | --why CALL] [--json]
OP --runs [--json]
GROUP [--service ID [--check STATE] | --why ID] [--json]
QUEUE [--check STATE | --why TASK] [--json]
[--op OP [--check STATE | --why CALL]] [--supervisor ID] [--json]
--ids [--op OP | --groups | --group GROUP | --queues | --queue QUEUE] [--json]
--group GROUP [--service ID [--check STATE] | --why ID] [--json]
--group GROUP --log ID [--follow] [--lines N]
--queue QUEUE [--check STATE | --why TASK] [--json]
--groups | --queues [--json]
[...] --format TEMPLATE
[--op OP | --group GROUP | --queue QUEUE] --watch | --openmetrics FILE
[--op OP | --group GROUP | --queue QUEUE] --html FILE [--refresh D] [--watch]
`,
		Details: `
Without arguments it lists what is running, and what failed or was aborted in the last 24 hours,
also if it is archived. It takes no lock and changes nothing. Exits 1 if --check fails, 65 if a
file is not valid, 66 if there is no such operation, call, group, service, queue or task.
`,
		Flags: `
name
	operation, group or queue; may be given as the first argument
all
	also list what has completed, and what ended long ago or is archived
since
	list what failed since TIME, instead of in the last 24 hours: as in the files, like
	09:30 in local time, or like 48h ago
runs
	list the runs of the operation, with those in the archive, the newest first
run
	show this run of the operation; the beginning of its id is enough
group
	show this group of services
queue
	show this queue: its tasks, who has them, and what holds it
ids
	print only ids, one per line, for scripts: of operations, ignoring $DPL_OP; with --op,
	of its calls; with --groups, of groups; with --group, of its services; with --queues, of
	queues; with --queue, of its tasks
check
	print nothing; exit 0 if --op, --service of --group, --group, or --queue is in STATE,
	otherwise 1; terminal means completed or failed; a service whose process has ended, or
	whose heartbeats are stale, is not running; it is ready if it is running and says so, or
	has completed; a group is healthy if none of its services is in trouble, it has not
	ended, and passes are made, and a service if that holds of it alone; a queue is running,
	halted, completed, or empty: nothing waits, is claimed or blocked
why
	show how call ID of --op is judged, and the evidence, or how it ended; with --group, why
	service ID is in its state, by which numbers, and what happens next; with --queue, what
	holds task ID, who has it, or how it was tried
watch
	redraw it on the terminal until the operation is over, or the queue completed, or q or
	Ctrl-C; ? shows the keys; with --html, write the page again and again
log
	with --group: print the end of the output of service ID
lines
	with --log: number of lines, also from rotated files (${default})
html
	write it to FILE as an HTML page; - means stdout
format
	print TEMPLATE, a text/template of Go, of the document that --json prints, such as
	'{{.operation.state}}'; of a list, once for each element; it has the functions json,
	join and duration
openmetrics
	write it to FILE as metrics for Prometheus, such as dpl.prom for the textfile collector
	of node_exporter; - means stdout
refresh
	with --html: a browser reads the page again every D (with --watch, 5s)
`,
		Exits: `
0
	Done; with --check, the condition is true.
1
	With --check: the condition is false.
64
65
66
70
74
77
78
`,
		Examples: examples,
	})
}
