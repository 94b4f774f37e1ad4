// Package run is dpl-run: see cmd/dpl-run.
package run

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

type run struct {
	account account
	results results
	held    []int // descriptors that outlive the call if the operation fails: see hold

	Participant cli.ID `placeholder:"ID" help:"participant that makes the call (the name of COMMAND)"`
	Group       cli.ID `placeholder:"GROUP" help:"instead of a call, maintain the registration of --service in GROUP"`
	Service     cli.ID `env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID" help:"with --group: the service that COMMAND runs"`

	cli.Push `embed:""`

	CallerDecides bool `help:"if a call has made this one, and COMMAND fails but was not killed: leave it to that call whether the operation fails"`

	Queue      cli.QueueID `placeholder:"QUEUE" help:"instead of one call, do tasks of QUEUE, each as the call of an operation of its own"`
	Once       bool        `help:"with --queue: do one task, and exit as its command does"`
	UntilEmpty bool        `help:"with --queue: do tasks until none is ready"`
	UntilDone  bool        `help:"with --queue: do tasks, and wait for those that are delayed or held by other workers, until only a person can make another one ready"`
	Follow     bool        `help:"with --queue: do tasks, and wait for more"`
	Jobs       cli.Count   `default:"1" placeholder:"N" help:"with --queue: do N tasks at a time (${default})"`

	OnAlert cli.Word `placeholder:"CMD" help:"with --queue: run sh -c CMD for each halt, each task that is dead, and when it cannot work, with the alert as JSON on stdin; kill it after 10s"`

	OnFailure cli.Word `placeholder:"CMD" help:"if dpl-run begins the operation, and it fails or is aborted: run sh -c CMD once, with what happened as JSON on stdin; kill it after 10s"`

	Wait    waitLimit `placeholder:"D" help:"if the operation is running: wait until it has ended, at most D (or infinity), then begin its next run"`
	Join    bool      `help:"if the operation is running: add a call to it (the default where $DPL_OP names it)"`
	NoRerun bool      `help:"exit 4 if the operation has ended before: its work must happen only once"`

	KeepResources bool `help:"with --resource: keep them if COMMAND fails, as long as dpl-run is there to see it"`

	Timeout     cli.Span          `placeholder:"D" help:"stop COMMAND after D, and exit 124"`
	SoftTimeout cli.Span          `placeholder:"D" help:"ask COMMAND to end after D, by sending --soft-signal"`
	SoftSignal  cli.Signal        `default:"INT" placeholder:"SIG" help:"signal for --soft-timeout (${default})"`
	KillAfter   cli.Pause         `default:"5s" placeholder:"D" help:"time from TERM to KILL (${default})"`
	OK          success           `placeholder:"LIST" help:"successes besides 0: exit statuses, ranges and signals, such as 1,3-5,SIGPIPE"`
	Retry       cli.Count         `placeholder:"N" help:"run COMMAND again in the same call after a failure, up to N times; stdin may be a file, but no pipe"`
	Backoff     *cli.Backoff      `placeholder:"D,..." help:"with --retry: pauses before the next attempt; the last repeats (0,30s,5m)"`
	LogMax      *cli.Size         `placeholder:"SIZE" help:"with --queue: when the log of an attempt is larger than SIZE, free what lies between its first 1M and its end; at least 2M; 0 means never (10M)"`
	NudgeAfter  cli.Span          `placeholder:"D" help:"run --on-nudge when COMMAND has written nothing for D, once in each silence"`
	OnNudge     cli.Word          `placeholder:"CMD" help:"with --nudge-after: run sh -c CMD with the variables of COMMAND, and what is silent as JSON on stdin; kill it after 10s"`
	Silence     cli.Span          `placeholder:"D" help:"stop COMMAND when it has written nothing for D, and exit 124"`
	Output      []cli.Path        `placeholder:"PATH" help:"with --silence or --nudge-after: a file that COMMAND writes to, besides stdout and stderr"`
	StatusFD    *cli.Count        `placeholder:"N" help:"at the end, write a line of JSON to file descriptor N that says whose exit status it is"`
	To          cli.Word          `placeholder:"FILE" help:"if COMMAND ends well, what it has written to stdout becomes FILE; otherwise FILE is unchanged"`
	Publish     []cli.Publication `placeholder:"SRC=DST" help:"if COMMAND ends well, the file SRC in $DPL_TMP becomes DST"`
	Notify      bool              `help:"provide COMMAND with a NOTIFY_SOCKET, as systemd does: it is ready once it sends READY=1"`
	Watchdog    cli.Span          `placeholder:"D" help:"with --notify: stop COMMAND if it sends no WATCHDOG=1 for D, starting from its start, and exit 124"`
	Command     []string          `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[--] COMMAND [ARG...]" help:"program to run, with its arguments"`
}

// Refuses makes it a cli.Refuser.
func (*run) Refuses() []string { return []string{"json"} }

func (c *run) Run(env *cli.Env) error {
	out, err := c.statusFile()
	if err != nil {
		return err
	}

	a := &c.account
	err = cli.WithStatus(cli.StatusOwn, c.run(env, a))
	a.failure = err
	if out != nil {
		a.write(env, out, err)
	}
	c.report(env, a.role)
	return err
}

// Summary is what dpl-run does, in one line.
const Summary = "Run a command as a call of an operation."

// Main runs dpl-run.
func Main() {
	job.Keep(keepOn)
	cli.Main(&run{}, Summary,
		"Starts COMMAND, lets the others know that it is alive, and tells them how it ended. "+
			"If another call of the operation fails or crashes, or the operation is aborted, "+
			"COMMAND gets TERM, and KILL if it does not end. The operation fails unless COMMAND "+
			"exits 0 or as in --ok. Pipes of COMMAND then stay open until the others have ended, so "+
			"none of them takes the end of its input for success. A dpl-run inside COMMAND joins the "+
			"operation; any other one begins its next run, and refuses to overlap one. COMMAND has the "+
			"same terminal, stdin, stdout and stderr, but its own process group, to which signals "+
			"are passed on. Its environment has DPL_OP, DPL_CALL, DPL_PARTICIPANT, DPL_LEDGER and "+
			"DPL_TMP, a directory that is deleted when the call ends. Exits as COMMAND does, with "+
			"128+N if signal N killed it; 3 if the operation was aborted, or failed for another "+
			"reason than COMMAND; 4 if it is over; 75 if it is running already; 5 if the call was "+
			"declared crashed; 124 after a timeout; 125 if dpl-run fails; 126 if COMMAND cannot be "+
			"executed; 127 if there is none. COMMAND may exit with these as well; --status-fd says whose status it is.")
}
