//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"
)

// labels are the names of the contestants in the tables, with what they make durable and what they
// do less than ours.
var labels = []struct{ who, label, says string }{
	{"null", "null Go process", "begins and ends"},
	{"dpl", "dpl", "heartbeat fsyncs the file; push and pop the directory, too"},
	{"version", "dpl --version", "begins, reads its flags and ends"},
	{"dry-run", "dpl --dry-run", "reads the operation, decides, and says what it would write"},
	{"no-sync", "dpl --sync none", "the whole edit, but for the fsync"},
	{"kong", "dpl -v", "the same edit, with its flags read by kong instead of the fast lane"},
	{"dpl-pid", "dpl, all with --pid", "the same; looks at the process of each call (1000 of " +
		"them, above that again)"},
	{"dpl-dump", "dpl, after json.dump", "the same; reads a file that Python has written on one " +
		"line, and lays it out"},
	{"dpl-dump-indent", "dpl, after indent=2",
		"the same; reads a file that Python has written with json.dump(indent=2)"},
	{"dpl-loop", "dpl-claim, dpl-settle", "8 shells, each with a loop of both"},
	{"dpl-wait", "dpl-claim --wait", "waits while another process has the task"},
	{"dpl-stale", "dpl, 1 % stale", "edits those, with an fsync of file and directory for each"},
	{"c", "C, same system calls",
		"fsync as dpl; no parser, looks at nobody. A pass: reads all. A " +
			"wait: inotify"},
	{"sqlite-journal", "sqlite3, journal FULL",
		"a transaction; fsyncs journal, database and directory; looks at nobody else"},
	{"sqlite-wal", "sqlite3, WAL FULL", "a transaction; fsyncs the WAL, the last to leave the " +
		"database; as above"},
	{"redis", "redis-cli, always", "a script in a running server that fsyncs its log; looks at " +
		"nobody else"},
	{"beanstalkd", "beanstalkd, -f0", "a client in C and a running server that fsyncs its log; one " +
		"process takes a task and removes it"},
	{"tsp", "task-spooler", "a running server that keeps its tasks in memory, with a process for " +
		"each; starts them itself"},
	{"nq", "nq", "a process for each task, which waits for those before it: one at a time, and no " +
		"fsync"},
	{"jq", "flock + jq + mv", "fsync as dpl; is told where the frame is; looks at nobody else"},
	{"sequence", "dpl-push; true; dpl-pop", "one after the other, with --tmp: the same call as " +
		"that of dpl-run"},
	{"loop", "while :; do sh; done", "a shell that stays, and starts the service again when it " +
		"has ended"},
	{"alone", "true", "no call"},
	{"plain", "without calls", "the compiler alone"},
	{"unrecorded", "dpl, no record", "the same edits of an operation that has no record"},
	{"python", "python3 -I -S",
		"fcntl, json, os.replace; fsync as dpl; as above. A pass: decodes " +
			"all"},
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(b.out, format, args...) }

// printMachine prints what the numbers depend on, what is left out, and the contestants.
func (b *bench) printMachine() {
	for _, f := range b.machine {
		b.printf("%-12s %s\n", f.Name, f.Value)
	}

	for _, line := range b.leftOut {
		b.printf("left out: %s\n", line)
	}

	b.printf("\nWhole processes, from before fork until their end was seen. In each round all " +
		"contestants have a run\n" +
		"in a new random order. Only ratios mean something: they are of medians of the same " +
		"rounds, with the\n" +
		"interval that 95 %% of bootstrap samples of the rounds are in. Absolute times drift with " +
		"the machine.\n\n")

	for _, l := range labels {
		b.printf("%-22s %s\n", l.label, l.says)
	}
}

// printTimes prints the series named prefix plus a contestant, and those of null, with ratios to
// null and to ours.
func (b *bench) printTimes(title, null, prefix string) {
	b.printf("\n%s\n%-22s %6s %9s %19s %18s %18s\n", title, "", "rounds", "median", "quartiles",
		"to null Go", "to dpl")
	for _, l := range labels {
		name := prefix + l.who
		if l.who == "null" {
			name = null
		}

		values := b.results.values(name)
		if values == nil {
			continue
		}

		b.printf("%-22s %6d %9s %9s - %7s %18s %18s\n", l.label, len(values),
			seconds(median(values)),
			seconds(quantile(values, 0.25)), seconds(quantile(values, 0.75)), b.ratioText(name,
				null), b.ratioText(name, prefix+"dpl"))
	}
}

func (b *bench) ratioText(ours, peer string) string {
	e, ok := b.results.ratio(ours, peer)
	if !ok || ours == peer {
		return ""
	}
	return e.String()
}

func (e estimate) String() string {
	return number(e.Value) + " [" + number(e.Low) + ", " + number(e.High) + "]"
}

// number returns x with about three digits.
func number(x float64) string {
	switch {
	case x == 0 || x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}

	return fmt.Sprintf("%.3f", x)
}

// seconds returns a time with about three digits.
func seconds(s float64) string {
	unit := 10 * time.Microsecond
	switch {
	case s < 0.001:
		unit = time.Microsecond
	case s >= 0.1:
		unit = time.Millisecond
	}
	return time.Duration(s * float64(time.Second)).Round(unit).String()
}

// printWriters prints what came of a crew.
func (b *bench) printWriters(p crewPlan, all []contender) {
	n := p.writers
	b.printf("\n%d writers, heartbeats in one operation of %d frames; medians of %d "+
		"repetitions\n%-22s %6s %6s %9s %9s %9s %8s %5s\n",
		n, writerFrames, p.repetitions, "", "each", "per s", "p50", "p99", "slowest", "refused", "lost")
	for _, c := range all {
		value := func(name string) float64 {
			return median(b.results.values(fmt.Sprintf("writers/%d/%s/%s", n, c.who, name)))
		}
		b.printf("%-22s %6d %6.0f %9s %9s %8.2fx %8.0f %5.0f\n", labelOf(c.who), b.editsOf(c),
			value("throughput"),
			seconds(value("p50")), seconds(value("p99")), value("slowest"), b.total(n, c.who,
				"refused"), b.total(n, c.who, "lost"))
	}
}

// total returns the sum over all repetitions.
func (b *bench) total(n int, who, name string) (sum float64) {
	for _, v := range b.results.values(fmt.Sprintf("writers/%d/%s/%s", n, who, name)) {
		sum += v
	}
	return sum
}

func labelOf(who string) string {
	for _, l := range labels {
		if l.who == who {
			return l.label
		}
	}
	return who
}

// printGoals prints what was wanted and what was measured.
func (b *bench) printGoals() {
	b.printf("\n%-27s %-29s %8s %19s  %s\n", "goals", "compared with", "goal", "measured",
		"verdict")
	unmeasured := 0
	for _, g := range b.judged {
		if g.Measured == nil {
			unmeasured++
			continue
		}

		sign := "<="
		if g.Least {
			sign = ">="
		}

		peer := strings.TrimSuffix(strings.TrimSuffix(g.Peer, "/throughput"), "/p99")
		b.printf("%-27s %-29s %s %5s %19s  %s\n", g.About, peer, sign, number(g.Limit), g.Measured,
			g.Verdict)
	}

	if unmeasured > 0 {
		b.printf("not measured: %d more, of what was left out\n", unmeasured)
	}
}
