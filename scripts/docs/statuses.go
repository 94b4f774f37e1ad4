package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A status is an exit status, and what it means.
type status struct {
	number, meaning string
	of              map[string]string // the commands that exit so, and what it means of them if that is not meaning; nil: all but dpl-run
}

// of returns the commands that have a status in its general meaning.
func of(commands ...string) map[string]string {
	all := make(map[string]string)
	for _, c := range commands {
		all[c] = ""
	}
	return all
}

// statuses are all there are. Those of README.md are the same.
var statuses = []status{
	{"0", "Done.", map[string]string{
		"": "", "dpl-heartbeat": "It is noted, and there is nothing to do but to go on.", "dpl-run": "COMMAND has exited 0.",
		"dpl-status": "Done; with --check, it is so.", "dpl-wait": "It has come to that.",
	}},
	{"1", "It is not so, or will not come to that; or a handler failed.", map[string]string{
		"dpl-status": "It is not so (--check).", "dpl-wait": "It will not come to that any more.",
		"dpl-restart": "With --wait: one of them is dead, or was stopped, or is blocked.",
		"dpl-cleanup": "A handler failed. Its call stays crashed, and is handled again by the next run.", "dpl-doctor": "There is a problem.",
	}},
	{"3", "The operation is aborted or in cleanup: clean up and pop. Of a service: end.", map[string]string{
		"dpl-heartbeat": "The operation is aborted or in cleanup: clean up and pop. Of a service: it is being shut down, end.",
		"dpl-run":       "The operation has failed or was aborted, except by the failure of COMMAND itself, which was stopped or not begun if there was time; or the service is being shut down.",
	}},
	{"4", "The operation is over.", of("dpl-push", "dpl-pop", "dpl-heartbeat", "dpl-abort", "dpl-cleanup", "dpl-run")},
	{"5", "You were declared crashed. Popping still works. A service: register again.", map[string]string{
		"dpl-heartbeat": "The participant was declared crashed; popping still works. The service was declared dead: register again.",
		"dpl-run":       "The call was declared crashed, or the service dead, and COMMAND was stopped.",
	}},
	{"64", "Wrong flags or ids.", map[string]string{"": "", "dpl-run": ""}},
	{"65", "A file is not valid. It is left as it is; the message says where and why.", nil},
	{"66", "There is no such ledger, operation, call, supervisor, group or service.", nil},
	{"69", "The supervisor or the process is dead.", map[string]string{
		"dpl-push": "The process of --pid, or the supervisor, is dead.", "dpl-heartbeat": "The process of --pid is dead.",
		"dpl-register": "The process of --pid is dead.", "dpl-cleanup": "The process of --pid is dead.",
	}},
	{"70", "A bug in DPL.", map[string]string{"": "", "dpl-run": ""}},
	{"71", "The change is made, but might not survive a power cut, or its result could not be printed; or a part of it is made, as the message says; or nobody can tell whether it is made. Look at dpl-status before you repeat it.",
		of("dpl-push", "dpl-pop", "dpl-heartbeat", "dpl-abort", "dpl-cleanup", "dpl-register", "dpl-orchestrate", "dpl-restart", "dpl-shutdown", "dpl-import", "dpl-wait", "dpl-doctor")},
	{"73", "The ledger cannot be created.", of("dpl-push", "dpl-register", "dpl-import")},
	{"74", "An error of the operating system. Nothing has changed.", nil},
	{"75", "Another process held the lock for longer than --lock-timeout. Nothing has changed; try again.",
		of("dpl-push", "dpl-pop", "dpl-heartbeat", "dpl-abort", "dpl-cleanup", "dpl-wait", "dpl-register", "dpl-orchestrate", "dpl-restart", "dpl-shutdown", "dpl-import")},
	{"76", "Refused by the protocol; the message says why. Nothing has changed.", map[string]string{
		"dpl-push":      "Refused: the operation is not running, knows the call already, or has other numbers; or the ledger must not delete the resource. Nothing has changed.",
		"dpl-heartbeat": "Refused: another process sends heartbeats for this call or service; or --cleaning, and the operation is running. Nothing has changed.",
		"dpl-cleanup":   "Refused: the call of --ack has not crashed, or is another supervisor's. Nothing has changed.",
		"dpl-register":  "Refused: the dependencies would be a cycle, another process is registered and lives, there is no command to start it with, it is being shut down, or (--remove) it runs or others depend on it. Nothing has changed.",
		"dpl-import":    "Refused: there is another operation of that id. The other files are imported.",
		"dpl-restart":   "Refused: it has no command to be started with, or one that would have to stop could not be started again, for what it depends on does not run. Nothing has changed.",
		"dpl-shutdown":  "Refused: running services depend on it (--only). Nothing has changed.",
	}},
	{"77", "Somebody else owns the ledger, or may write to it.", nil},
	{"78", "The ledger is of a newer version, has lost its ledger.json, or is otherwise than the flags say.", nil},
	{"124", "It was not so in time.", map[string]string{
		"dpl-wait": "It has not come to that within --timeout.", "dpl-watch": "--timeout is over.",
		"dpl-restart":  "Not all that it restarts is ready within --timeout. The request stays.",
		"dpl-shutdown": "It has not stopped within --timeout.", "dpl-run": "COMMAND was stopped after --timeout, or by --watchdog.",
	}},
	{"125", "dpl-run has failed, not its command.", map[string]string{"dpl-run": "dpl-run itself has failed, for a reason for which another command exits 65 to 78."}},
	{"126", "The command of dpl-run cannot be executed.", map[string]string{"dpl-run": "COMMAND cannot be executed."}},
	{"127", "There is no such command.", map[string]string{"dpl-run": "There is no COMMAND."}},
}

// statusesOf returns the exit statuses of a command.
func statusesOf(program string) (all []status) {
	for _, s := range statuses {
		meaning, has := s.of[program]
		if _, every := s.of[""]; (s.of == nil || every) && program != "dpl-run" {
			has = true
		}
		if has {
			if meaning != "" {
				s.meaning = meaning
			}
			all = append(all, s)
		}
	}
	if program == "dpl-run" {
		all = append(all, status{number: "128+N", meaning: "Signal N has killed COMMAND."}, status{number: "other", meaning: "That of COMMAND."})
	}
	return all
}

// sentence is where one begins inside of a line; mdoc(7) wants it on a new one.
var sentence = regexp.MustCompile(`\. ([A-Z])`)

// mdocStatuses returns all of them as items of a list of mdoc(7).
func mdocStatuses() string {
	var out strings.Builder
	for _, s := range statuses {
		fmt.Fprintf(&out, ".It %s\n%s\n", s.number, sentence.ReplaceAllString(inline(s.meaning, nil), ".\n$1"))
	}
	return out.String()
}

// mdocCommands returns the commands as items of such a list.
func mdocCommands(commands []*command) string {
	var out strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&out, ".It Xr %s 1\n%s\n", c.Program, roff(c.Summary))
	}
	return out.String()
}
