//go:build linux

package main

import "slices"

// A goal is a limit for a number of this run: the median of ours, or its ratio to that of peer.
type goal struct {
	About string  `json:"about"`
	Ours  string  `json:"ours"`           // series
	Peer  string  `json:"peer,omitempty"` // series; "": none
	Limit float64 `json:"limit"`
	Least bool    `json:"atLeast"` // the limit is the least that holds, else the most
	Worst bool    `json:"worst"`   // the worst round counts, not the median

	// Start and Work are for growth: Start is the part of both that does not grow, and Work how
	// much more Ours does than Peer.
	Start string  `json:"start,omitempty"` // series
	Work  float64 `json:"work,omitempty"`
}

// A judged goal is a goal with its measurement.
type judged struct {
	goal
	Measured *estimate `json:"measured"` // null: it was not
	Verdict  string    `json:"verdict"`
}

// The verdicts. They are by the median, and not by its interval.
const (
	holds       = "holds"
	missed      = "missed"
	notMeasured = "not measured"
)

// goals are those of spec/performance.md. Those on stacks and passes also apply if all calls have a
// process.
var goals = []goal{
	{About: "heartbeat, 3 frames", Ours: "heartbeat/3/dpl", Peer: "edits/null", Limit: 2.35},
	{About: "heartbeat, 3 frames", Ours: "heartbeat/3/dpl", Peer: "heartbeat/3/sqlite-journal",
		Limit: 1.1},
	{About: "heartbeat, 3 frames", Ours: "heartbeat/3/dpl", Peer: "heartbeat/3/jq", Limit: 0.15},
	{About: "heartbeat, 3 frames", Ours: "heartbeat/3/dpl", Peer: "heartbeat/3/redis", Limit: 0.7},
	{About: "heartbeat, 3 frames", Ours: "heartbeat/3/dpl", Peer: "heartbeat/3/python", Limit: 0.2},
	{About: "the same without the fast lane", Ours: "heartbeat/3/kong", Peer: "heartbeat/3/dpl",
		Limit: 1.1, Least: true},
	{About: "heartbeat, 1000 frames", Ours: "heartbeat/1000/dpl", Peer: "heartbeat/3/dpl",
		Limit: 1.45},
	{About: "heartbeat, 1000 frames", Ours: "heartbeat/1000/dpl", Peer: "edits/null", Limit: 3.6},
	{About: "the same, by json.dump", Ours: "heartbeat/1000/dpl-dump", Peer: "edits/null",
		Limit: 3.6},
	{About: "the same, with indent=2", Ours: "heartbeat/1000/dpl-dump-indent", Peer: "edits/null",
		Limit: 3.6},
	{About: "heartbeat, 1000 frames", Ours: "heartbeat/1000/dpl", Peer: "heartbeat/1000/jq",
		Limit: 0.12},
	{About: "heartbeat, 1000 frames", Ours: "heartbeat/1000/dpl",
		Peer: "heartbeat/1000/sqlite-journal", Limit: 1.6},
	{About: "the same, all with --pid", Ours: "heartbeat/1000/dpl-pid", Peer: "heartbeat/3/dpl-pid",
		Limit: 1.45},
	{About: "the same, all with --pid", Ours: "heartbeat/1000/dpl-pid", Peer: "heartbeat/1000/jq",
		Limit: 0.12},
	{About: "the same, all with --pid", Ours: "heartbeat/1000/dpl-pid",
		Peer: "heartbeat/1000/sqlite-journal", Limit: 1.6},
	{About: "push, 3 frames", Ours: "push/3/dpl", Peer: "heartbeat/3/dpl", Limit: 1.15},
	{About: "pop, 3 frames", Ours: "pop/3/dpl", Peer: "heartbeat/3/dpl", Limit: 1.15},
	{About: "push, 1000 frames", Ours: "push/1000/dpl", Peer: "heartbeat/1000/dpl", Limit: 1.15},
	{About: "pop, 1000 frames", Ours: "pop/1000/dpl", Peer: "heartbeat/1000/dpl", Limit: 1.15},
	{About: "8 writers, throughput", Ours: "writers/8/dpl/throughput",
		Peer: "writers/8/sqlite-wal/throughput", Limit: 0.8, Least: true},
	{About: "8 writers, p99", Ours: "writers/8/dpl/p99", Peer: "writers/8/sqlite-wal/p99",
		Limit: 0.3},
	{About: "8 writers, slowest/fastest", Ours: "writers/8/dpl/slowest", Limit: 1.2},
	{About: "64 writers, throughput", Ours: "writers/64/dpl/throughput",
		Peer: "writers/64/sqlite-wal/throughput", Limit: 0.7, Least: true},
	{About: "64 writers, p99", Ours: "writers/64/dpl/p99", Peer: "writers/64/sqlite-wal/p99",
		Limit: 0.5},
	{About: "64 writers, slowest/fastest", Ours: "writers/64/dpl/slowest", Limit: 1.6},
	{About: "64 writers, lost in all", Ours: "writers/64/dpl/lost", Worst: true},
	{About: "pass, 10000 quiet", Ours: "cleanup/10000/dpl", Peer: "cleanup/10000/c", Limit: 2.5},
	{About: "the same, all with --pid", Ours: "cleanup/10000/dpl-pid", Peer: "cleanup/10000/c",
		Limit: 2.5},
	{About: "pass, growth from 1000", Ours: "cleanup/10000/dpl", Peer: "cleanup/1000/dpl",
		Start: "cleanup/1/dpl", Work: 9999.0 / 999, Limit: 1.1},
	{About: "pass, 100 services", Ours: "orchestrate/100/dpl", Peer: "orchestrate/null", Limit: 3},
	{About: "pass, 1000 services", Ours: "orchestrate/1000/dpl", Peer: "orchestrate/null", Limit: 8},
	{About: "restart at an end, s", Ours: "restart/dpl", Limit: 0.015},
	{About: "dpl-wait, s to exit", Ours: "wait/dpl", Limit: 0.005},
	{About: "dpl-wait, idle CPU ticks", Ours: "wait/idle-ticks", Worst: true},
	{About: "dpl-run -- true", Ours: "run/dpl", Peer: "run/sequence", Limit: 1},
	{About: "dpl-run --to FILE -- true", Ours: "run/to", Peer: "run/dpl", Limit: 1.2},
	{About: "make -j2, compiles as calls", Ours: "build/dpl", Peer: "build/plain", Limit: 1.15},
	{About: "enqueue, 10 waiting", Ours: "enqueue/10/dpl", Peer: "enqueue/10/sqlite-journal",
		Limit: 1.2},
	{About: "enqueue, 1000 waiting", Ours: "enqueue/1000/dpl", Peer: "enqueue/10/dpl", Limit: 2},
	{About: "enqueue, 10000 waiting", Ours: "enqueue/10000/dpl", Peer: "enqueue/10/dpl", Limit: 6},
	{About: "enqueue, 300000 remembered", Ours: "enqueue/0/remembered-all",
		Peer: "enqueue/0/remembered-none", Limit: 1.5},
	{About: "claim + settle, 10 waiting", Ours: "take/10/dpl", Peer: "take/10/sqlite-journal",
		Limit: 1.2},
	{About: "claim + settle, 1000", Ours: "take/1000/dpl", Peer: "take/10/dpl", Limit: 2},
	{About: "claim + settle, 10000", Ours: "take/10000/dpl", Peer: "take/10/dpl", Limit: 6},
	{About: "drain by dpl-work, s a task", Ours: "drain/dpl", Limit: 0.008},
	{About: "drain by dpl-claim, s a task", Ours: "drain/dpl-loop", Limit: 0.005},
	{About: "kill to claim, dpl-work, s", Ours: "reclaim/dpl", Limit: 0.02},
	{About: "kill to claim, --wait, s", Ours: "reclaim/dpl-wait", Limit: 0.02},
	{About: "permission by 100 rules", Ours: "ask/dpl", Peer: "ask/null", Limit: 2.5},
	{About: "push and pop, recorded", Ours: "audit/dpl", Peer: "audit/unrecorded", Limit: 1.35},
	{About: "lines verified a second", Ours: "audit/verified", Limit: 200000, Least: true},
}

// judge compares what was measured with the goals.
func (b *bench) judge() {
	for _, g := range goals {
		b.judged = append(b.judged, g.judge(&b.results))
	}
}

func (g goal) judge(r *results) judged {
	names, statistic := g.measured()
	columns := r.measured(names...)
	if columns == nil {
		return judged{g, nil, notMeasured}
	}

	e := bootstrap(columns, statistic)
	if e.Value < g.Limit && g.Least || e.Value > g.Limit && !g.Least {
		return judged{g, &e, missed}
	}
	return judged{g, &e, holds}
}

// measured returns the series for g, and the statistic to compute from them.
func (g goal) measured() ([]string, func([][]float64) float64) {
	switch {
	case g.Worst:
		return []string{g.Ours}, func(c [][]float64) float64 { return slices.Max(c[0]) }
	case g.Peer == "":
		return []string{g.Ours}, func(c [][]float64) float64 { return median(c[0]) }
	case g.Start != "":
		return []string{g.Ours, g.Peer, g.Start}, func(c [][]float64) float64 {
			start := median(c[2])
			return (median(c[0]) - start) / (median(c[1]) - start) / g.Work
		}
	}

	return []string{g.Ours, g.Peer}, ratioOfMedians
}
