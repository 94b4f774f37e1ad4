package powerloss

import (
	"strconv"
	"strings"
	"time"
)

// Scenarios returns the scenarios. The command that creates the ledger also gets the flags
// creating.
func Scenarios(creating ...string) []Scenario {
	all := []Scenario{
		{"calls", calls("o")},
		{"crash", crash("o")},
		{"abort", abort("o")},
		{"group", groupCommands("g")},
		{"fresh", fresh("g")},
		{"queue", queueCommands("q")},
	}

	for _, s := range all {
		s.Commands[0].Args = append(s.Commands[0].Args, creating...)
	}
	return all
}

// Long returns one scenario that does what Scenarios do rounds times, each time with other
// operations and groups.
func Long(rounds int, creating ...string) Scenario {
	s := Scenario{Name: "edits"}
	for round := range rounds {
		n := strconv.Itoa(round)
		for _, part := range [][]Command{calls("calls" + n), crash("crash" + n), abort("abort" + n),
			groupCommands("group" + n), fresh("fresh" + n), queueCommands("queue" + n)} {
			s.Commands = append(s.Commands, part...)
		}
	}

	s.Commands[0].Args = append(s.Commands[0].Args, creating...)
	return s
}

// on returns a command that acknowledges what it does.
func on(at time.Duration, line string) Command {
	return Command{Args: strings.Fields(line), At: at}
}

func beat(at time.Duration, line string) Command {
	c := on(at, line)
	c.Beat = true
	return c
}

// from gives c the file, which Prepare has made, as its standard input.
func from(file string, c Command) Command {
	c.Stdin = file
	return c
}

func exits(status int, c Command) Command {
	c.Status = status
	return c
}

const second = time.Second

// calls is an operation that goes well, is archived, and begins anew.
func calls(op string) []Command {
	return []Command{
		on(0, "dpl-push --participant p --call a --tmp --op "+op+" --resource-root BASE/data"),
		on(1*second, "dpl-push --participant q --call b --op "+op),
		beat(2*second, "dpl-heartbeat --participant q --op "+op),
		on(2*second, "dpl-heartbeat --call b --note halfway --op "+op),
		beat(3*second, "dpl-heartbeat --participant p --op "+op),
		on(3*second, "dpl-pop --call b --op "+op),
		on(3*second, "dpl-pop --call a --op "+op),
		on(3*second, "dpl-cleanup --op "+op),
		on(3*second, "dpl-cleanup"),
		on(3*second, "dpl-cleanup --op "+op),
		on(4*second, "dpl-push --participant p --call c --reuse --op "+op),
		on(4*second, "dpl-pop --call c --op "+op),
		on(4*second, "dpl-cleanup --op "+op),
		on(4*second, "dpl-cleanup --op "+op),
		on(4*second, "dpl-cleanup --op "+op),
	}
}

// crash is an operation whose calls are heard of no more.
func crash(op string) []Command {
	return []Command{
		on(0, "dpl-push --participant p --call a --resource BASE/data/scratch --resource-root "+
			"BASE/data --op "+op),
		on(0, "dpl-push --participant q --call b --tmp --op "+op),
		on(1*second, "dpl-push --participant r --call c --no-fail-on-crash --op "+op),
		on(30*second, "dpl-cleanup --op "+op),
		on(31*second, "dpl-cleanup --op "+op),
		on(32*second, "dpl-cleanup --op "+op),
		on(33*second, "dpl-cleanup --op "+op),
		on(34*second, "dpl-cleanup --op "+op),
	}
}

// abort aborts an operation.
func abort(op string) []Command {
	return []Command{
		on(0, "dpl-push --participant p --call a --op "+op+" --resource-root BASE/data"),
		on(0, "dpl-push --participant q --call b --tmp --op "+op),
		on(1*second, "dpl-abort --reason enough --op "+op),
		exits(3, on(1*second, "dpl-heartbeat --participant q --op "+op)),
		exits(3, on(1*second, "dpl-heartbeat --participant p --op "+op)),
		exits(3, on(2*second, "dpl-heartbeat --participant q --cleaning --op "+op)),
		on(2*second, "dpl-pop --call b --fail --op "+op),
		on(2*second, "dpl-pop --call a --op "+op),
	}
}

// groupCommands are those of a group whose supervisors are heard of no more, twice.
func groupCommands(id string) []Command {
	return []Command{
		on(0, "dpl-register --no-pass --supervisor s --group "+id+" --resource-root BASE/data"),
		on(0, "dpl-register --no-pass --supervisor t --depends-on s --group "+id),
		beat(1*second, "dpl-heartbeat --supervisor s --group "+id),
		on(1*second, "dpl-orchestrate --owner me --group "+id),
		on(60*second, "dpl-orchestrate --owner me --on-alert true --group "+id),
		on(61*second, "dpl-register --no-pass --supervisor s --group "+id),
		on(120*second, "dpl-orchestrate --owner me --on-alert true --group "+id),
		on(121*second, "dpl-shutdown --supervisor s --group "+id),
	}
}

// fresh is a group that is forgotten when all of it is gone.
func fresh(id string) []Command {
	return []Command{
		on(0, "dpl-register --no-pass --supervisor s --group "+id+" --resource-root BASE/data"),
		on(1*second, "dpl-orchestrate --owner me --group "+id),
		on(60*second, "dpl-register --no-pass --fresh --supervisor t --group "+id),
		on(61*second, "dpl-orchestrate --owner me --group "+id),
	}
}

// queueCommands are those of a queue with long specs, reports, and more ended tasks than its file
// keeps. Its record has the arguments of commands, and a hash of them, so none has a path that
// differs in a copy.
func queueCommands(id string) []Command {
	all := []Command{
		on(0, "dpl-enqueue --queue "+id+" --id long --text "+strings.Repeat("x", 1000)),
		on(1*second, "dpl-queue --queue "+id+" --backoff 0s"),
		on(1*second, "dpl-enqueue --queue "+id+" --id short --priority -1 -- true"),
		on(1*second, "dpl-claim --queue "+id+" --participant p --deadline 1h"),
		from(report, on(2*second, "dpl-settle --queue "+id+" --task short --epoch 1 --fail --report -")),
		on(2*second, "dpl-claim --queue "+id+" --participant p --deadline 1h"),
		from(report, on(3*second, "dpl-settle --queue "+id+" --task short --epoch 2 --done --report -")),
		from(tasks, on(3*second, "dpl-enqueue --queue "+id+" --file -")),
		on(3*second, "dpl-audit --queue "+id+" --seal"),
	}

	cancel := on(4*second, "dpl-enqueue --queue "+id)
	for _, task := range many() {
		cancel.Args = append(cancel.Args, "--cancel", task)
	}
	return append(all, cancel,
		on(5*second, "dpl-enqueue --queue "+id+" --id remembers -- true"), // those that have ended, elsewhere
		on(5*second, "dpl-claim --queue "+id+" --participant q --deadline 1s"),
		on(6*second, "dpl-settle --queue "+id+" --task long --epoch 3 --block why"),
		on(7*second, "dpl-enqueue --queue "+id+" --again long"),
		on(8*second, "dpl-enqueue --queue "+id+" --id last --text "+strings.Repeat("y", 1000)),
		from(rules, on(8*second, "dpl-enqueue --queue "+id+" --id checked --priority -2 --check /dev/stdin "+
			"--dir / -- true")),
		on(8*second, "dpl-claim --queue "+id+" --participant r --deadline 1h"),
		exits(1, on(9*second, "dpl-settle --queue "+id+" --task checked --epoch 4 --done")), // rejected
		from(report, on(9*second, "dpl-audit --queue "+id+" --note prompt --data - --task last")),
	)
}

// many returns the ids of so many tasks that an edit remembers them elsewhere when they have ended.
func many() (ids []string) {
	for i := range 205 {
		ids = append(ids, "t"+strconv.Itoa(i))
	}
	return ids
}
