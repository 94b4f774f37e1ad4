package cli

import (
	"strconv"
	"strings"
)

// An exit is an exit status and its meaning.
type exit struct {
	status  int
	meaning string

	// of has the commands that exit with status, each with its own meaning of the status, or "" for
	// the general one, or never. A command "" stands for all others.
	of map[string]string
}

// exits returns all exit statuses in order. This is the only table of them: help and man pages are
// made from it, and the tables in spec/ are compared with it.
func exits() []exit {
	return []exit{
		{StatusOK, "Done.", map[string]string{
			"":              "",
			"dpl-ask":       "Answered, or allowed.",
			"dpl-audit":     "Done; with --verify, the record is whole.",
			"dpl-check":     "The attempt has passed.",
			"dpl-heartbeat": "The heartbeat is recorded: go on.",
			"dpl-run":       "COMMAND exited 0.",
			"dpl-status":    "Done; with --check, the condition is true.",
			"dpl-wait":      "The condition is true.",
		}},
		{StatusFalse, "The condition is false or can no longer come true; or a handler failed.",
			map[string]string{
				"dpl-ask":   "Denied.",
				"dpl-audit": "With --verify: a line is changed, missing, forked or torn.",
				"dpl-check": "The attempt failed: a rule is broken.",
				"dpl-claim": "No task is ready.",
				"dpl-cleanup": "A handler failed. Its call stays crashed, and the next run " +
					"handles it again.",
				"dpl-doctor":  "There is a problem.",
				"dpl-restart": "With --wait: a service died, was stopped, or is blocked.",
				"dpl-run": "With --queue: tasks are left that are dead, blocked, delayed or held by " +
					"others. With --queue --once: COMMAND exited 0, but the check has not passed.",
				"dpl-settle": "The check has not passed: the attempt was rejected, or is uncertain.",
				"dpl-status": "With --check: the condition is false.",
				"dpl-wait":   "The condition can no longer come true.",
			}},
		{StatusCleanUp, "The operation is aborted or in cleanup: clean up and pop. For a service: " +
			"end.", map[string]string{
			"dpl-claim": "The queue is halted.",
			"dpl-heartbeat": "The operation is aborted or in cleanup: clean up and pop. For a " +
				"service: it is being shut down, end.",
			"dpl-run": "The operation failed or was aborted for another reason than a failure of " +
				"COMMAND. COMMAND was stopped, or " +
				"not started, if there was time. With --group: the service is being shut down. With " +
				"--queue: the queue is halted.",
		}},
		{StatusOver, "The operation is over.", map[string]string{
			"dpl-push": "", "dpl-pop": "", "dpl-heartbeat": "", "dpl-abort": "", "dpl-cleanup": "",
			"dpl-answer": "The question has expired or was withdrawn.",
			"dpl-ask":    "With --key or --park: the attempt at a task, or the run, in which it asks is over.",
			"dpl-claim":  "The queue is completed, or closed and empty: no task will come.",
			"dpl-run": "The operation is over. With --queue --follow or --once: the queue is " +
				"completed, or closed and empty.",
		}},
		{StatusCrashed, "You were declared crashed. Popping still works. A service must register " +
			"again.", map[string]string{
			"dpl-heartbeat": "The participant was declared crashed; popping still works. The " +
				"service was declared dead: register again.",
			"dpl-run": "The call was declared crashed, or the service dead, and COMMAND was " +
				"stopped.",
			"dpl-ask":   "The question was withdrawn.",
			"dpl-claim": "With --check: the claim is over, or to be stopped.",
			"dpl-settle": "The claim is over: the claimer was found dead, a later claim was made, or " +
				"the task was cancelled. Stop working on it.",
		}},
		{StatusAsked, "The service is asked for a checkpoint: give one with --note, and go on.",
			only("dpl-heartbeat")},
		{StatusUsage, "Wrong flags or ids.", everyCommand()},
		{StatusCorrupt, "A file is not valid. It stays as it is; the message says where it is " +
			"wrong, and why.", except("dpl-run dpl-doctor")},
		{StatusNotFound, "No such ledger, operation, call, supervisor, group, service, queue or task.",
			with(except("dpl-check"), "dpl-run", "With --no-create: no run of the operation is there.")},
		{StatusUnavailable, "The supervisor or the process is dead.", map[string]string{
			"dpl-ask":       "The process of --pid or the call of --call has ended.",
			"dpl-claim":     "The process of --pid or the call that claims has ended. Nothing is claimed.",
			"dpl-cleanup":   "The process of --pid is dead.",
			"dpl-heartbeat": "The process of --pid is dead.",
			"dpl-push":      "The process of --pid, or the supervisor, is dead.",
			"dpl-register":  "The process of --pid is dead.",
			"dpl-wait":      "The process of --pid or the call of --call has ended.",
		}},
		{StatusBug, "A bug in DPL.", everyCommand()},
		{StatusCommitted, "The change was made but might not survive a power cut, or its result " +
			"could not be printed; or only a part of it was made, as the message says; or it is " +
			"unknown whether it was made. Look at dpl-status before you repeat it.",
			only(editors + " dpl-doctor")},
		{StatusCreate, "The ledger cannot be created.",
			only("dpl-push dpl-register dpl-enqueue dpl-queue dpl-ask")},
		{StatusIO, "An error of the operating system. Nothing has changed.", except("dpl-run")},
		{StatusBusy, "Another process held the lock for longer than --lock-timeout. Nothing has " +
			"changed; try again.",
			with(with(with(with(only(editors), "dpl-wait", never), "dpl-run", "The operation is running, and neither --wait nor "+
				"--join is given; it is still running after --wait; or processes of its last run "+
				"remain. With --queue: tasks are ready, but the queue could not be edited in time; "+
				"with --once also: no task is ready."),
				"dpl-check", "It cannot be told, or nothing was looked at: a person must look."),
				"dpl-ask", "The question is still open, with --wait or --park; or another process "+
					"held the lock for longer than --lock-timeout.")},
		{StatusRefused, "Refused by the protocol; the message says why. Nothing has changed.",
			map[string]string{
				"dpl-ask": "Refused: the key is that of another question, the process of --pid is not " +
					"above dpl-ask, the queue is closed, or there are too many open questions. " +
					"Nothing has changed.",
				"dpl-answer": "Refused: the question is decided, is one's own or may be, has changed " +
					"since it was shown, or wants a signature or another kind of answer. Nothing has " +
					"changed.",
				"dpl-claim": "Refused: the claimer has a task already, or the task of --task is held. " +
					"Nothing has changed.",
				"dpl-enqueue": "Refused: another task has the id, tasks would wait for each other, the " +
					"queue is closed or full, or the task of --replace or --again is in another state. " +
					"Nothing has changed.",
				"dpl-queue": "Refused: the queue exists with another policy, is halted by others, " +
					"needs no permits, or is not empty. Nothing has changed.",
				"dpl-run": "--to or --publish on a ledger that commits by link, or a supervisor must " +
					"clean up first. COMMAND was not started.",
				"dpl-settle": "Refused: the attempt was settled otherwise. Nothing has changed.",
				"dpl-cleanup": "Refused: the call of --ack has not crashed, or belongs to another " +
					"supervisor. Nothing has changed.",
				"dpl-heartbeat": "Refused: another process sends the heartbeats of this call or " +
					"service; or --cleaning was given " +
					"and the operation is running. Nothing has changed.",
				"dpl-push": "Refused: the operation is not running, already knows the call, or has " +
					"another --staleness or " +
					"--interval; or the ledger must not delete the resource. Nothing has changed.",
				"dpl-register": "Refused: the dependencies would form a cycle, one in FILE is " +
					"missing, another process is registered and alive, no command is known to " +
					"start it, it is being shut down, its group has ended (--resume), or " +
					"(--remove) it is running or others depend on it. Nothing has changed.",
				"dpl-report": "Refused: the service is not running, or not with the start that " +
					"the report is about. Nothing has changed.",
				"dpl-restart": "Refused: the service has no command to start it, or one that " +
					"would have to stop could not be started again because a service it depends " +
					"on is not running; or the group has ended. Nothing has changed.",
				"dpl-shutdown": "Refused: running services depend on it (--only). Nothing has " +
					"changed.",
			}},
		{StatusPermission, "Another user owns the ledger, or may write to it.", with(except("dpl-run"),
			"dpl-ask", "A yes does not count, or the asker could change --rules or --signers; or "+
				"another user owns the ledger, or may write to it.")},
		{StatusConfig, "The ledger was written by a newer version, has lost its ledger.json, or " +
			"differs from what the flags say.", except("dpl-run dpl-check dpl-doctor")},
		{StatusTimeout, "Timed out.", map[string]string{
			"dpl-ask":      "Nobody has answered within --timeout.",
			"dpl-claim":    "With --wait: no task was ready within --timeout.",
			"dpl-restart":  "Not every service was ready within --timeout. The request stays.",
			"dpl-run":      "COMMAND was stopped after --timeout, or by --watchdog.",
			"dpl-shutdown": "It did not stop within --timeout.",
			"dpl-wait":     "The condition was not true within --timeout.",
			"dpl-watch":    "--timeout is over.",
		}},
		{StatusOwn, "dpl-run itself failed, not its command.", map[string]string{
			"dpl-run": "dpl-run itself failed, for a reason for which another command exits 65 to " +
				"78. With --queue: five times in a row no task could be begun.",
		}},
		{StatusCannotRun, "The command of dpl-run cannot be executed.", map[string]string{
			"dpl-run": "COMMAND cannot be executed.",
		}},
		{StatusNoCommand, "The command of dpl-run does not exist.", map[string]string{
			"dpl-run": "COMMAND does not exist.",
		}},
	}
}

// editors are the commands that edit operations or groups, except dpl-run.
const editors = "dpl-push dpl-pop dpl-heartbeat dpl-abort dpl-cleanup dpl-wait dpl-register " +
	"dpl-orchestrate dpl-restart dpl-shutdown dpl-report dpl-enqueue dpl-claim " +
	"dpl-settle dpl-queue dpl-ask dpl-answer dpl-audit"

// only returns commands, separated by spaces, that use a status in its general meaning.
func only(commands string) map[string]string {
	of := make(map[string]string)
	for command := range strings.FieldsSeq(commands) {
		of[command] = ""
	}
	return of
}

// with returns of with another command, which exits with a status for a reason of its own.
func with(of map[string]string, command, meaning string) map[string]string {
	of[command] = meaning
	return of
}

// everyCommand stands for all commands including dpl-run.
func everyCommand() map[string]string { return map[string]string{"": ""} }

// never is the meaning of a status for a command that does not exit so.
const never = "never"

// except returns all commands, with the general meaning, but not these, separated by spaces.
func except(commands string) map[string]string {
	of := everyCommand()
	for command := range strings.FieldsSeq(commands) {
		of[command] = never
	}
	return of
}

// meansTo returns the meaning of e for program, or "" if program never exits so.
func (e exit) meansTo(program string) string {
	meaning, named := e.of[program]
	_, all := e.of[""]
	switch {
	case meaning == never:
		return ""
	case meaning != "":
		return meaning
	case named, all:
		return e.meaning
	}

	return ""
}

// exitModels returns the exit statuses of program as JSON, for the man pages.
func exitModels(program string) []Object {
	all := []Object{}
	for _, e := range exits() {
		if meaning := e.meansTo(program); meaning != "" {
			all = append(all, Object{{"status", strconv.Itoa(e.status)}, {"meaning", meaning},
				{"ofAll", e.meaning}})
		}
	}

	if program == "dpl-ask" {
		all = append(all, Object{{"status", "128+N"},
			{"meaning", "Signal N asked it to end: the question was withdrawn, unless it has a key."}})
	}
	if program == "dpl-claim" {
		all = append(all, Object{{"status", "128+N"},
			{"meaning", "With --wait: signal N asked it to end. Nothing is claimed."}})
	}
	if program == "dpl-run" {
		all = append(all,
			Object{{"status", "128+N"}, {"meaning", "Signal N killed COMMAND."}},
			Object{{"status", "other"}, {"meaning", "The exit status of COMMAND."}})
	}

	return all
}

// exitHelp returns the exit statuses of program for its help.
func exitHelp(program string) string {
	var out strings.Builder
	out.WriteString("\nExit statuses:\n")
	for _, o := range exitModels(program) {
		status, meaning := o[0].Value().(string), o[1].Value().(string)
		text := strings.TrimLeft(Wrap(meaning, 70, "         "), " ")
		out.WriteString("  " + status + strings.Repeat(" ", 7-len(status)) + text)
	}
	return out.String()
}
