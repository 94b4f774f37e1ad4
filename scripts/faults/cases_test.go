//go:build linux

package faults

import (
	"slices"
	"testing"

	"github.com/dpl-project/dpl/testscripts/rig"
)

// A subject is a command that writes, and what is there before.
type subject struct {
	name    string
	setup   []step
	prepare func(*testing.T, *world) // after setup
	do      step

	// several: it changes more than one file, so that what is there in the end may be a part.
	several bool

	// beyond: its status is the worst of several results, and the examined edit is only one of
	// them.
	beyond bool

	each []step // repeated before each run, because it starts processes

	// also returns the state of things besides the files of operations and groups that it changes.
	also func(*world) string

	// optional is part of the paths on which a call may fail without a failure of the command.
	optional string

	// always is a path on which each call has a turn.
	always string

	// locked: it needs locks that keep others out, which a ledger that commits by link has not.
	locked bool

	// answers are statuses that say more than whether the edit was made.
	answers []int

	// open: status 75 says that it has not ended, and not that somebody blocks it.
	open bool

	// unrecorded: on a full disk it does what it can, and says by 71 that the files do not tell of it.
	unrecorded bool

	// loose: how many edits it makes depends on how long things take.
	loose bool

	// settled returns "" once everything it has started is as it should be. It is called after
	// further passes.
	settled func(*world) string
}

var (
	pushMain  = at(0, "dpl-push --op o --participant cli --call main --staleness 10s --interval 1s")
	pushChat  = at(0, "dpl-push --op o --participant vscode --call chat")
	pushOwned = at(0, "dpl-push --op o --participant cli --call main --resource $res/file "+
		"--resource $res/dir --tmp --resource-root $res")
	pushTmp   = at(1, "dpl-push --op o --participant x --call y --tmp --resource $res/file")
	supervise = at(0, "dpl-push --op o --participant worker --call job --supervisor s --handle h "+
		"--no-fail-on-crash")
	popMain  = at(5, "dpl-pop --op o --call main")
	cleanOne = at(11, "dpl-cleanup --op o")
	request  = at(0, "dpl-register --group g --request --no-pass --service a --backoff 0 -- "+
		"sleep 300")
	itself = at(0, "dpl-register --group g --no-pass --service b")
	pass   = at(1, "dpl-orchestrate --group g")
	noisy  = at(0, "dpl-register --group g --request --no-pass --service a --log-max 64K "+
		"--log-keep 2 -- sleep 300")
)

// runTo has a result that others must see whole.
var runTo = subject{name: "run --to", setup: []step{pushMain}, prepare: publication,
	do: at(5, "dpl-run --op o --join --call c --to $res/out -- printf new"), several: true,
	optional: ".tmp~", beyond: true, answers: []int{125}, also: publishedIfCompleted,
	locked: true, settled: nobodyWorks}

// subjects returns the subjects that a ledger of this mode allows.
func (m commitMode) subjects() []subject {
	return slices.DeleteFunc(subjects(), func(s subject) bool { return s.locked && m.name == "link" })
}

// subjects returns all commands that write, each with the work that makes it do all it can.
func subjects() []subject {
	all := slices.Concat(operationSubjects(), groupSubjects(), queueSubjects())
	if rig.Soak() { // most of its calls are hit late; TestKills has it every day
		all = append(all, runTo)
	}
	return all
}

func operationSubjects() []subject {
	over := []step{pushMain, popMain, cleanOne, cleanOne}
	crashed := []step{pushOwned, cleanOne}
	return []subject{
		{name: "push makes the ledger", do: pushMain},
		{name: "push makes the operation", setup: []step{at(0, "dpl-push --op other --participant "+
			"x --call y")}, do: pushMain},
		{name: "push makes a shared ledger", do: pushMain.with("--shared", "--trust-group",
			"--resource-root", "$res")},
		{name: "push", setup: []step{pushMain},
			do: at(0, "dpl-push --op o --participant vscode --call chat --caller main "+
				"--supervisor s "+
				"--handle h "+
				"--orphan-policy keep --description text --no-fail-on-crash --heartbeat "+
				"--readiness "+
				"starting --no-create --pid $me")},
		{name: "push --tmp", setup: []step{pushOwned}, prepare: resources, do: pushTmp},
		{name: "pop", setup: []step{pushMain, pushChat}, do: at(5, "dpl-pop --op o --call chat")},
		{name: "pop --keep-open", setup: []step{pushMain},
			do: at(5, "dpl-pop --op o --call main --keep-open")},
		{name: "pop of the last", setup: []step{pushOwned}, prepare: resources, do: popMain},
		{name: "pop of a call with --tmp", setup: []step{pushOwned, pushTmp}, prepare: resources,
			do: at(5, "dpl-pop --op o --call y")},
		{name: "pop --delete-resources", setup: []step{pushOwned, pushChat}, prepare: resources,
			do: at(5, "dpl-pop --op o --call main --fail --delete-resources"), several: true,
			also: owned},
		{name: "pop --fail", setup: []step{pushMain, pushChat},
			do: at(5, "dpl-pop --op o --call chat --fail --reason bad")},
		{name: "heartbeat", setup: []step{pushMain},
			do: at(5, "dpl-heartbeat --op o --participant cli")},
		{name: "heartbeat of a call", setup: []step{pushMain},
			do: at(5, "dpl-heartbeat --op o --call main --pid $me --note text --readiness ready")},
		{name: "heartbeat --cleaning", setup: []step{pushMain, pushChat, at(5, "dpl-abort --op o")},
			do: at(5, "dpl-heartbeat --op o --call main --cleaning")},
		{name: "heartbeat --supervisor", setup: []step{pushMain, supervise,
			at(8, "dpl-heartbeat --op o --participant cli")},
			do: at(15, "dpl-heartbeat --op o --supervisor s")},
		{name: "cleanup crashes", setup: []step{pushOwned}, prepare: resources, do: cleanOne},
		{name: "cleanup cleans", setup: crashed, prepare: resources,
			do: at(12, "dpl-cleanup --op o")},
		{name: "cleanup archives", setup: over, do: cleanOne},
		{name: "cleanup of all archives", setup: over, do: at(11, "dpl-cleanup"), beyond: true},
		{name: "cleanup of all cleans", setup: crashed, prepare: resources,
			do: at(12, "dpl-cleanup"), beyond: true},
		{name: "heartbeat archives", setup: over,
			do: at(11, "dpl-heartbeat --op o --participant cli")},
		{name: "ack", setup: []step{pushMain, supervise,
			at(8, "dpl-heartbeat --op o --participant cli"),
			at(15, "dpl-heartbeat --op o --supervisor s")},
			do: at(15, "dpl-cleanup --op o --supervisor s --ack job --pid $me")},
		{name: "push --reuse", setup: over[:2],
			do: at(11, "dpl-push --op o --participant x --call new --reuse"), several: true},
		{name: "handler", setup: []step{pushMain, supervise,
			at(8, "dpl-heartbeat --op o --participant cli")},
			do: at(15, "dpl-cleanup --op o --supervisor s --timeout 20s -- true"), several: true,
			answers: []int{1}}, // the handler has failed
		{name: "run", setup: []step{pushOwned},
			do: at(5, "dpl-run --op o --join --call c --participant run --caller main "+
				"--caller-decides --supervisor s --handle h "+
				"--orphan-policy keep --description text --resource $res/file --no-fail-on-crash "+
				"--heartbeat --no-create --ok 1 "+
				"--timeout 50s --soft-timeout 40s --soft-signal INT -- true"), several: true,
			always: "/L/operations", optional: ".tmp~", beyond: true, answers: []int{125},
			settled: nobodyWorks},
		{name: "wait", setup: []step{at(0, "dpl-push --op o --participant cli --call main "+
			"--interval 20ms")},
			do: at(15, "dpl-wait --op o --for failed --timeout 1s"), several: true, beyond: true,
			optional: "/L", answers: []int{124}},
		{name: "abort", setup: []step{pushMain}, do: at(5, "dpl-abort --op o --reason enough")},
	}
}

func groupSubjects() []subject {
	return []subject{
		{name: "register makes the ledger", do: request, several: true},
		{name: "register", setup: []step{itself},
			do: at(0, "dpl-register --group g --request --no-pass --service a --depends-on b --env "+
				"X=y --dir / "+
				"--max-attempts 3 --backoff 0 --reset-after 1m --kill-timeout 1s --log-max 1M "+
				"--log-every 1d --log-compress "+
				"--log-keep 2 --no-budget --no-preflight --no-finish --no-health --no-restart "+
				"--heartbeat --readiness starting -- sleep 300")},
		{name: "register a policy", setup: []step{itself, request},
			do: at(0, "dpl-register --group g --request --no-pass --service c "+
				"--depends-on-completed a --restart transient --exit-status tempfail=9 "+
				"--jitter 25% --deadline 10m --intensity 3/5m --soft-timeout 1m --timeout 2m "+
				"--soft-signal INT "+
				"--stuck 10s,20s --alert-on final --keep-ended 1h --on-dead escalate --significant --resume "+
				"--budget tokens=1000 "+
				"--budget-action restart --preflight true --preflight-timeout 5s --health true "+
				"--health-every 5s --health-timeout 2s --health-failures 2 --health-start 9s "+
				"--finish true --finish-timeout 5s --umask 022 --nofile 64 --nice 19 "+
				"--oom-score-adj 500 --env-file /dev/null -- sleep 300")},
		{name: "register --child-group", setup: []step{request},
			do:      at(0, "dpl-register --group outer --no-pass --service inner --child-group g"),
			several: true},
		{name: "register --file", setup: []step{itself, request}, prepare: servicesFile,
			do: at(0, "dpl-register --group g --no-pass --file $res/services.json --prune")},
		{name: "register --pid", setup: []step{request},
			do: at(0, "dpl-register --group g --no-pass --service b --pid $me --no-depends-on")},
		{name: "register --fresh", setup: []step{request},
			do: at(60, "dpl-register --group g --request --no-pass --fresh --service c -- sleep 300")},
		{name: "heartbeat --group", setup: []step{itself},
			do: at(5, "dpl-heartbeat --group g --service b --heartbeat --readiness stopping "+
				"--progress --spend tokens=600"),
			beyond: true},
		{name: "register --remove", setup: []step{request, itself},
			do: at(5, "dpl-register --group g --remove --service a")},
		{name: "register --maintenance", setup: []step{itself},
			do: at(5, "dpl-register --group g --service b --maintenance 1h")},
		{name: "register --silence", setup: []step{itself},
			do: at(5, "dpl-register --group g --service b --silence 1h")},
		{name: "report", setup: []step{itself,
			at(0, "dpl-orchestrate --group g --rule lint=log --rule sandbox=reap")},
			do: at(5, "dpl-report --group g --service b --spend tokens=600 --violation sandbox "+
				"--detail text")},
		{name: "restart --continue", setup: []step{itself,
			at(0, "dpl-orchestrate --group g --rule sandbox=pause"),
			at(1, "dpl-report --group g --service b --violation sandbox")},
			do: at(5, "dpl-restart --group g --service b --continue")},
		{name: "shutdown", setup: []step{request, itself},
			do: at(5, "dpl-shutdown --group g --service b --only")},
		{name: "shutdown --all", setup: []step{request, itself},
			do: at(5, "dpl-shutdown --group g --all")},
		{name: "restart", setup: []step{request, at(1, "dpl-shutdown --group g --service a")},
			do: at(5, "dpl-restart --group g --service a")},
		{name: "orchestrate starts", setup: []step{request, itself},
			do: pass.with("--staleness", "1h", "--interval", "2s", "--failover", "--spawn",
				"direct"),
			several: true, settled: oneRuns},
		{name: "orchestrate --strategy", setup: []step{request},
			do: pass.with("--strategy", "one_for_all", "--window", "2", "--intensity",
				"3/5m", "--on-intensity", "escalate", "--auto-shutdown", "any_significant"), several: true, settled: oneRuns},
		{name: "orchestrate --rule", setup: []step{itself,
			at(0, "dpl-orchestrate --group g --no-rule")},
			do:      pass.with("--rule", "lint=log", "--on-exit", "pass", "--log", "files"),
			several: true},
		{name: "orchestrate --no-rule", setup: []step{itself,
			at(0, "dpl-orchestrate --group g --rule lint=log")},
			do: pass.with("--no-rule"), several: true},
		{name: "restart --all", setup: []step{request, at(1, "dpl-shutdown --group g --all")},
			do: at(5, "dpl-restart --group g --all --completed")},
		{name: "register with a pass", do: at(0,
			"dpl-register --group g --request --service a --backoff 0 -- sleep 300"),
			// it reports that it is registered
			several: true, beyond: true, optional: "/L", settled: oneRuns},
		{name: "shutdown --wait", setup: []step{request}, each: []step{pass},
			do:      at(5, "dpl-shutdown --group g --all --wait --timeout 5s"),
			several: true, optional: "/L", answers: []int{124}, loose: true, settled: noneRuns},
		{name: "shutdown --unrecorded", setup: []step{request, pass},
			do: at(5, "dpl-shutdown --group g --all --unrecorded --timeout 1s"), unrecorded: true,
			several: true, optional: "/L", answers: []int{71, 124}, loose: true, settled: noneRuns},
		{name: "orchestrate --on-alert", setup: []step{request,
			at(1, "dpl-orchestrate --group g --on-alert true")}, prepare: strike,
			do: at(2, "dpl-orchestrate --group g --on-alert cat"), several: true, settled: oneRuns},
		{name: "orchestrate rotates", setup: []step{noisy,
			at(0, "dpl-shutdown --group g --service a")}, prepare: fillLog,
			do: at(2, "dpl-orchestrate --group g"), several: true, also: logs, optional: "/logs/",
			settled: nothingLost},
		{name: "orchestrate compresses", setup: []step{noisy.with("--log-compress"),
			at(0, "dpl-shutdown --group g --service a")}, prepare: fillLogs,
			do: at(2, "dpl-orchestrate --group g"), several: true, also: logs, optional: "/logs/",
			settled: nothingLost},
		{name: "orchestrate alerts", setup: []step{request, pass}, prepare: strike,
			do: at(2, "dpl-orchestrate --group g --rounds 2"), several: true, settled: oneRuns},
	}
}
