//go:build linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// A subject is a command that writes, and what is there before.
type subject struct {
	name    string
	setup   []step
	prepare func(*testing.T, *world) // after setup
	do      step

	// several: it changes more than one file, so that what is there in the end may be a part.
	several bool

	// beyond: its status is the worst of several things, of which only one is the edit that is looked at.
	beyond bool

	// settled returns "" when what it has set in motion is as it should be; it is asked after further passes.
	settled func(*world) string
}

var (
	pushMain  = at(0, "dpl-push --op o --participant cli --call main --staleness 10s --interval 1s")
	pushChat  = at(0, "dpl-push --op o --participant vscode --call chat")
	pushOwned = at(0, "dpl-push --op o --participant cli --call main --resource $res/file --resource $res/dir --tmp --resource-root $res")
	pushTmp   = at(1, "dpl-push --op o --participant x --call y --tmp --resource $res/file")
	supervise = at(0, "dpl-push --op o --participant worker --call job --supervisor s --handle h --no-fail-on-crash")
	popMain   = at(5, "dpl-pop --op o --call main")
	cleanOne  = at(11, "dpl-cleanup --op o")
	request   = at(0, "dpl-register --group g --request --no-pass --supervisor a --backoff 0 -- sleep 300")
	itself    = at(0, "dpl-register --group g --no-pass --supervisor b")
	pass      = at(1, "dpl-orchestrate --group g")
)

// subjects returns all commands that write, each with the work that makes it do all it can.
func subjects() []subject {
	return append(operationSubjects(), groupSubjects()...)
}

func operationSubjects() []subject {
	over := []step{pushMain, popMain, cleanOne, cleanOne}
	crashed := []step{pushOwned, cleanOne}
	return []subject{
		{name: "push makes the ledger", do: pushMain},
		{name: "push makes the operation", setup: []step{at(0, "dpl-push --op other --participant x --call y")}, do: pushMain},
		{name: "push", setup: []step{pushMain}, do: pushChat},
		{name: "push --tmp", setup: []step{pushOwned}, prepare: resources, do: pushTmp},
		{name: "pop", setup: []step{pushMain, pushChat}, do: at(5, "dpl-pop --op o --call chat")},
		{name: "pop of the last", setup: []step{pushOwned}, prepare: resources, do: popMain},
		{name: "pop of a call with --tmp", setup: []step{pushOwned, pushTmp}, prepare: resources, do: at(5, "dpl-pop --op o --call y")},
		{name: "pop --fail", setup: []step{pushMain, pushChat}, do: at(5, "dpl-pop --op o --call chat --fail --reason bad")},
		{name: "heartbeat", setup: []step{pushMain}, do: at(5, "dpl-heartbeat --op o --participant cli")},
		{name: "heartbeat --supervisor", setup: []step{pushMain, supervise, at(8, "dpl-heartbeat --op o --participant cli")},
			do: at(15, "dpl-heartbeat --op o --supervisor s")},
		{name: "cleanup crashes", setup: []step{pushOwned}, prepare: resources, do: cleanOne},
		{name: "cleanup cleans", setup: crashed, prepare: resources, do: at(12, "dpl-cleanup --op o")},
		{name: "cleanup archives", setup: over, do: cleanOne},
		{name: "cleanup of all archives", setup: over, do: at(11, "dpl-cleanup"), beyond: true},
		{name: "cleanup of all cleans", setup: crashed, prepare: resources, do: at(12, "dpl-cleanup"), beyond: true},
		{name: "heartbeat archives", setup: over, do: at(11, "dpl-heartbeat --op o --participant cli")},
		{name: "ack", setup: []step{pushMain, supervise, at(8, "dpl-heartbeat --op o --participant cli"), at(15, "dpl-heartbeat --op o --supervisor s")},
			do: at(15, "dpl-cleanup --op o --supervisor s --ack job")},
		{name: "push --reuse", setup: over[:2], do: at(11, "dpl-push --op o --participant x --call new --reuse"), several: true},
		{name: "handler", setup: []step{pushMain, supervise, at(8, "dpl-heartbeat --op o --participant cli")},
			do: at(15, "dpl-cleanup --op o --supervisor s -- true"), several: true},
		{name: "abort", setup: []step{pushMain}, do: at(5, "dpl-abort --op o --reason enough")},
	}
}

func groupSubjects() []subject {
	return []subject{
		{name: "register makes the ledger", do: request, several: true},
		{name: "register", setup: []step{itself}, do: request},
		{name: "register --fresh", setup: []step{request}, do: at(60, "dpl-register --group g --request --no-pass --fresh --supervisor c -- sleep 300")},
		{name: "heartbeat --group", setup: []step{itself}, do: at(5, "dpl-heartbeat --group g --supervisor b --readiness stopping"), beyond: true},
		{name: "register --remove", setup: []step{request, itself}, do: at(5, "dpl-register --group g --remove --supervisor a")},
		{name: "shutdown", setup: []step{request, itself}, do: at(5, "dpl-shutdown --group g --supervisor b")},
		{name: "shutdown --all", setup: []step{request, itself}, do: at(5, "dpl-shutdown --group g --all")},
		{name: "restart", setup: []step{request, at(1, "dpl-shutdown --group g --supervisor a")}, do: at(5, "dpl-restart --group g --supervisor a")},
		{name: "orchestrate starts", setup: []step{request, itself}, do: pass, several: true, settled: oneRuns},
		{name: "orchestrate alerts", setup: []step{request, pass}, prepare: strike, do: at(2, "dpl-orchestrate --group g"), several: true, settled: oneRuns},
	}
}

// resources makes what a call of pushOwned may leave behind.
func resources(t *testing.T, w *world) {
	dir := filepath.Join(w.base, "res", "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(w.base, "res", "file"), filepath.Join(dir, "inside"), w.file("tmp/o/main/inside")} {
		if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// strike kills supervisor a.
func strike(t *testing.T, w *world) {
	for _, pid := range w.running("a") {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if !until(func() bool { return len(w.running("a")) == 0 }) {
		t.Fatal("a killed supervisor does not end")
	}
}

// running returns the living processes of a supervisor that a pass has started.
func (w *world) running(supervisor string) []int {
	var pids []int
	for pid, environ := range environments(w.base) {
		if _, alive := proc.StartTicks(pid); alive && strings.Contains(environ, "\x00DPL_SUPERVISOR="+supervisor+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// oneRuns says that supervisor a runs, once, and is known.
func oneRuns(w *world) string {
	data, err := os.ReadFile(w.file("g.supervisors.json"))
	pids := w.running("a")
	switch {
	case err != nil:
		return err.Error()
	case len(pids) != 1 || !strings.Contains(string(data), `"pid": `+strconv.Itoa(pids[0])+","):
		return fmt.Sprintf("processes %v run as a, and the registry says\n%s", pids, data)
	case strings.Contains(string(data), `"pendingAlerts"`):
		return "alerts are pending:\n" + string(data)
	}
	return ""
}
