//go:build linux

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/protocol"
)

var languages = []language{
	shell(-1, "dash"), withDebugger(shell(-1, "bash")), shell(-1, "bash", "--posix"),
	shell(-1, "busybox", "sh"),
	shell(1, "zsh"), shell(129, "mksh"), python, node,
}

// shell returns a shell whose exit status after HUP is hup. Some shells do not die of it, with or
// without traps.
func shell(hup int, command ...string) language {
	cases := append([]comes{
		{what: "HUP", does: send(syscall.SIGHUP), status: hup, says: "cleaned up after 129\n",
			state: protocol.Failed, reason: "killed by HUP"},
	}, ofShells...)
	return language{name: strings.Join(command, " "), command: command, program: "program.sh",
		cases: cases}
}

// withDebugger adds a trap on DEBUG, which sees the failure of a dpl_call before other commands do.
func withDebugger(l language) language {
	for _, command := range []string{"dpl_calls=", ": not reached"} {
		l.cases = append(l.cases, comes{
			what: "call fails, TERM before " + command, status: 9, says: "cleaned up after 9\n",
			state: protocol.Failed, reason: "call bad: exit status 9",
		})
	}
	return l
}

// ofCalls is the output of a program for calls that exit with the statuses that have a meaning for
// dpl-run.
const ofCalls = "3\n4\n5\n124\n125\n126\n"

// noQueue is what a client says of a queue that is not there, also if it has asked for JSON.
const noQueue = "dpl-claim: nope: no such queue: dpl-enqueue or dpl-queue --create creates it\n"

// unclaimed is a queue in which a task was not claimed, or not for long.
const unclaimed = `[["a", null, null]]` + "\n"

const printed = "<a  b><c\nd><*><><$x><it's>"

var ofShells = []comes{
	{what: "arguments", says: printed + "cleaned up after 0\n", state: protocol.Completed},
	{what: "call fails", status: 9, says: "cleaned up after 9\n", state: protocol.Failed,
		reason: "call bad: exit status 9"},
	{what: "exits 7", status: 7, says: "cleaned up after 7\n", state: protocol.Failed,
		reason: "call main: exit status 7"},
	{what: "may fail", status: 7, says: "cleaned up after 7\n", state: protocol.Completed},
	{what: "own EXIT", status: 7, says: "cleaned up after 7\nown 7 it's'\n", state: protocol.Failed,
		reason: "call main: exit status 7"},
	{what: "own EXIT of lines", status: 7,
		says: "cleaned up after 7\ntrap -- \"x\" TERM\ntrap -- " +
			"it's\n", state: protocol.Failed, reason: "call main: exit status 7"},
	{what: "ends of an aborted operation", status: 3, says: "cleaned up\n",
		state: protocol.Failed, reason: "enough"},
	{what: "ends twice", says: "none none none none\n", state: protocol.Completed},
	{what: "ends as failed", state: protocol.Failed, reason: "call main: exit status 7"},
	{what: "many times", state: protocol.Completed},
	{what: "waits", says: "cleaned up after 0\n", state: protocol.Completed},
	{what: "begins twice", status: 64, says: "cleaned up after 64\n", state: protocol.Failed,
		reason: "exit status 64"},
	{what: "subshells", says: "subshell 64\ninner\ncleaned up after 0\ntext\ncleaned up after " +
		"0\nmain\ncleaned up after 0\n", state: protocol.Completed},
	{what: "nested", says: "job program.sh 3\ncleaned up after 0\ncleaned up after 0\n",
		state: protocol.Completed},
	{what: "unbegun"},
	{what: "busy", does: busy, status: 75},
	{what: "refused", does: aborted, status: 76},
	{what: "executes", state: protocol.Failed, crashed: true, reason: "call main crashed: exited"},
	{what: "goes on", does: goOn, says: "cleaned up after 0\n", state: protocol.Completed},
	{what: "TERM", does: send(syscall.SIGTERM), status: -15, says: "cleaned up after 143\n",
		state: protocol.Failed, reason: "killed by TERM"},
	{what: "TERM to all", does: sendAll(syscall.SIGTERM), status: -15,
		says: "cleaned up after 143\n", state: protocol.Failed, reason: "killed by TERM"},
	{what: "INT", does: send(syscall.SIGINT), status: -2, says: "cleaned up after 130\n",
		state: protocol.Failed, reason: "killed by INT"},
	{what: "own TERM", does: send(syscall.SIGTERM), status: 3, says: "told\ncleaned up after 3\n",
		state: protocol.Failed, reason: "exit "},
	{what: "killed", does: send(syscall.SIGKILL), status: -9, state: protocol.Failed, crashed: true,
		reason: "call main crashed: exited"},
	{what: "aborted", does: abort, status: 3, says: "cleaned up after 3\n", state: protocol.Failed,
		reason: "enough"},
}

var python = language{name: "python", command: []string{"python3"}, program: "program.py",
	cases: append([]comes{
		{what: "exits 7", status: 7, state: protocol.Failed, reason: "call main: exit status 7"},
		{what: "call exits as dpl-run may", says: ofCalls + "3\n", state: protocol.Completed},
		{what: "cannot be run", status: 126, says: "Error\n", state: protocol.Failed,
			reason: "call command: not started: "},
		{what: "forks", says: "Usage\nUsage\nbelow\nbelow\nrunning\n", state: protocol.Completed},
		{what: "child leaves", says: "running\n", state: protocol.Completed},
		{what: "forks while it sends heartbeats", state: protocol.Completed},
		{what: "throws", status: 1, state: protocol.Failed,
			reason: "call main: ValueError: no good"},
		{what: "throws odd text", status: 1, state: protocol.Failed,
			reason: `call main: ValueError: \udcff\x00xxx`},
		{what: "throws without text", status: 1, state: protocol.Failed, reason: "call main: Mute"},
		{what: "throws without stderr", status: 1, state: protocol.Failed, crashed: true,
			reason: "call main crashed: exited"},
		{what: "exits with a text", status: 1, state: protocol.Failed,
			reason: "call main: exit status 1: SystemExit"},
		{what: "sentence", says: noQueue},
		{what: "signalled", says: "2000\n"},
		{what: "another directory", state: protocol.Completed},
		{what: "says why", status: 3, says: "Aborted operation job was aborted: enough job\nAborted\n",
			state: protocol.Failed},
		{what: "aborted after a tolerated failure", does: abort, status: 3,
			says: "cleaned up after 3\n", state: protocol.Failed, reason: "enough"},
		{what: "claim that waits interrupted", says: "of a signal handler\n" + unclaimed},
		{what: "claim interrupted", says: "of a signal handler\n" + unclaimed},
		{what: "push interrupted", says: "of a signal handler\n", state: protocol.Failed,
			reason: "call main: Alarm: of a signal handler"},
		{what: "pop interrupted", says: "of a signal handler\n", state: protocol.Completed},
		{what: "heartbeats go on", says: "sent\n", state: protocol.Completed},
		{what: "cause", status: 3, says: "operation job failed: call bad: exit status 9 job 3 " +
			"{'call': 'bad', 'status': 9}\nAborted\n", state: protocol.Failed},
		{what: "call fails", status: 1, state: protocol.Failed, reason: "exit status 9"},
		{what: "nested", says: "job program.py 3\n", state: protocol.Completed},
		{what: "TERM", does: send(syscall.SIGTERM), status: 3, says: "cleaned up after 3\n",
			state: protocol.Failed, reason: "call main: exit status 3"},
		{what: "INT", does: send(syscall.SIGINT), status: -2, state: protocol.Failed,
			reason: "call main: KeyboardInterrupt"},
		{what: "aborted", does: abort, status: 3, says: "cleaned up after 3\n",
			state:  protocol.Failed,
			reason: "enough"},
	}, ofBoth...)}

var node = language{name: "node", command: []string{"node"}, program: "program.mjs",
	cases: append([]comes{
		{what: "call exits as dpl-run may", says: ofCalls + "x\n", state: protocol.Completed},
		{what: "cannot be run", status: 126, says: "DplError\n", state: protocol.Failed,
			reason: "call command: not started: "},
		{what: "worker", says: "Refused\n2\nrunning\n", state: protocol.Completed},
		{what: "throws", status: 1, says: "TypeError\n", state: protocol.Failed,
			reason: "call main: TypeError: no good"},
		{what: "throws odd text", status: 1, says: "TypeError\n", state: protocol.Failed,
			reason: `call main: TypeError: \udcff\x00xxx`},
		{what: "throws nothing", status: 1, says: "an error\n", state: protocol.Failed,
			reason: "call main: an error"},
		{what: "sentence", says: noQueue},
		{what: "another directory", state: protocol.Completed},
		{what: "output", says: "{ stdout: 'in', stderr: 'x' }\n<Buffer ff 69 6e> <Buffer 78>\n" +
			"<Buffer ff> 7\n", state: protocol.Completed},
		{what: "many heartbeats", says: "quiet\n", state: protocol.Completed},
		{what: "claim aborted", says: "enough\nenough\nenough\nenough\n" +
			"[[\"a\",null,null]]\n"},
		{what: "cause", status: 3, says: "operation job failed: call bad: exit status 9 job " +
			"{ call: 'bad', status: 9 }\nAborted\n", state: protocol.Failed},
		{what: "call fails", status: 9, says: "CommandFailed\n", state: protocol.Failed,
			reason: "exit status 9"},
		{what: "nested", says: "job program.mjs 3\n", state: protocol.Completed},
		{what: "INT", does: send(syscall.SIGINT), status: -2, state: protocol.Failed, crashed: true,
			reason: "call main crashed: exited"},
		{what: "aborted", does: abort, status: 3, says: "cleaned up after 3\nAborted\n",
			state: protocol.Failed, reason: "enough"},
	}, ofBoth...)}

// ofBoth is what is alike in Python and Node.
var ofBoth = []comes{
	{what: "arguments", says: printed, state: protocol.Completed},
	{what: "begins twice", status: 76, says: "Refused\n", state: protocol.Failed,
		reason: "is open in this process"},
	{what: "busy", does: busy, status: 75, says: "Busy\n"},
	{what: "refused", does: aborted, status: 76, says: "Refused\n"},
	{what: "call is stopped", status: 124, says: "TimedOut\n", state: protocol.Failed,
		reason: "timed out after 50ms"},
	{what: "call hides a failure", status: 3, says: "Aborted\n", state: protocol.Failed,
		reason: "call false-"},
	{what: "ends of an aborted operation", status: 3, says: "Aborted\n", state: protocol.Failed,
		reason: "enough"},
	{what: "goes on", does: goOn, state: protocol.Completed},
	{what: "killed", does: send(syscall.SIGKILL), status: -9, state: protocol.Failed, crashed: true,
		reason: "call main crashed: exited"},
}

func send(signal syscall.Signal) func(*world) {
	return func(w *world) { w.process.Signal(signal) }
}

// sendAll is what dpl-run and a terminal do.
func sendAll(signal syscall.Signal) func(*world) {
	return func(w *world) { syscall.Kill(-w.process.Pid, signal) }
}

func goOn(w *world) { w.write("go", "", 0o644) }

func abort(w *world) { w.run("dpl-abort", "--op", "job", "--reason", "enough") }

// aborted makes an operation that is not running.
func aborted(w *world) {
	w.run("dpl-push", "--op", "over", "--participant", "other", "--call", "other")
	w.run("dpl-abort", "--op", "over")
}

// busy makes an operation whose lock is held.
func busy(w *world) {
	w.run("dpl-push", "--op", "over", "--participant", "other", "--call", "other")
	lock, err := os.OpenFile(filepath.Join(w.ledger(), "operations", "over.json.lock"), os.O_RDWR,
		0)
	if err != nil {
		w.t.Fatal(err)
	}

	w.t.Cleanup(func() { lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		w.t.Fatal(err)
	}
}
