//go:build linux

package main

import "time"

// A plan is how much is done.
type plan struct {
	rounds, warmUp int
	frames         []int // stack sizes that are timed in the same rounds
	big            int   // a stack size in rounds of its own: it makes the caches and the journal of the file system uneasy
	bigRounds      int
	slow           int // slow contestants take part in one of this many rounds

	writers []crewPlan
	edits   int // of each writer

	operations  []int // of a cleanup pass
	passRounds  int
	supervisors []int // of an orchestrator pass

	waits, idles int
	idle         time.Duration

	runs             int  // of true as a call
	builds           int  // of a project of C
	files, functions int  // in the project, and in each file
	zlib             bool // is built instead, if its sources are there

	waiting         []int // tasks in the queues
	remembered      int   // tasks that have ended, of a queue that is compared with one without
	drained, drains int   // tasks of a drain, and how often it is repeated

	recorded, verifies int // tasks of a record, and how often it is verified

	processes int // that live as long as the benchmark, to be the participants and supervisors
}

// A crewPlan is how often so many writers work at once.
type crewPlan struct{ writers, repetitions int }

// planned returns the plan of a full run, with so many rounds of edits.
func planned(rounds int) plan {
	return plan{
		rounds: rounds, warmUp: 5,
		frames: []int{3, 100, 1000}, big: 10000, bigRounds: max(3, rounds/5), slow: 3,
		writers: []crewPlan{{1, max(3, rounds/15)}, {8, max(3, rounds/10)},
			{64, max(3, rounds/30)}}, edits: 50,
		operations: []int{1, 100, 1000, 10000}, passRounds: max(3, rounds/5),
		supervisors: []int{1, 100, 1000},
		waits:       max(3, rounds/3), idles: 3, idle: 2 * time.Second,
		runs: rounds, builds: max(3, rounds/15), files: 15, functions: 16, zlib: true,
		waiting: []int{10, 1000, 10000}, remembered: 300000, drained: 1000, drains: max(3, rounds/30),
		recorded: 35000, verifies: max(3, rounds/15),
		processes: 1000,
	}
}

// quickPlan returns a plan for a few seconds.
func quickPlan() plan {
	return plan{
		rounds: 3, warmUp: 1,
		frames: []int{3, 100}, big: 1000, bigRounds: 2, slow: 2,
		writers: []crewPlan{{1, 2}, {4, 2}}, edits: 3,
		operations: []int{1, 100}, passRounds: 2,
		supervisors: []int{1, 10},
		waits:       2, idles: 1, idle: 100 * time.Millisecond,
		runs: 2, builds: 1, files: 2, functions: 1,
		waiting: []int{10, 100}, remembered: 1000, drained: 10, drains: 2,
		recorded: 100, verifies: 2,
		processes: 10,
	}
}
