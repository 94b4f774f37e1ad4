package main

import (
	"slices"
	"strings"
)

// A tier is a kind of tests, as they are run by make check, or less of it.
type tier struct {
	argv []string
	env  []string
}

var tiers = map[string]tier{
	"vectors": goTest("./protocol/...", ""),
	"files":   goTest("./fileops", ""),
	"simulation": {goTest("./cmd/internal/simulation", "Histories").argv,
		[]string{"DPL_HISTORIES=20s"}},
	"scripts":   goTest("./testscripts", "TestScripts"),
	"identity":  goTest("./testscripts", "TestIdentity|TestClock"),
	"faults":    goTest("./scripts/faults", ""),
	"histories": goTest("./scripts/linearize", "TestHistories"),
}

func goTest(pkg, run string) tier {
	return tier{argv: []string{"go", "test", "-count=1", "-timeout=10m", "-run", run, "-v", pkg}}
}

// huntBy returns the tests that a mutant names: a tier, a script (FOLDER/NAME.txtar), a package and
// a pattern of its tests ("./fileops TestPrune"), or a Python file and a test in it.
func huntBy(name string) tier {
	if t, ok := tiers[name]; ok {
		return t
	}

	where, which, _ := strings.Cut(name, " ")
	switch {
	case strings.HasSuffix(name, ".txtar"):
		folder, script, _ := strings.Cut(strings.TrimSuffix(name, ".txtar"), "/")
		return goTest("./testscripts", "^TestScripts$/^"+folder+"$/^"+script+"$")
	case strings.HasSuffix(where, ".py"):
		return tier{argv: []string{"python3", where, which}}
	default:
		return goTest(where, which)
	}
}

// A mutant is a bug: in file, old is replaced by new.
type mutant struct {
	name     string
	file     string
	old, new string
	by       []string // the tests that are asked; see huntBy
}

// all returns the mutants of all files.
func all() []mutant { return slices.Concat(mutants, hardUse()) }

var mutants = []mutant{
	{
		"no lock", "fileops/disk/flock.go",
		"l.flock.TryLock()", "l.flock.TryRLock()",
		[]string{"files", "faults", "histories"},
	}, {
		"lock without inode check", "fileops/trust/lock.go",
		"current, err := named.ID == locked.ID, f.CheckFile(path, locked)",
		"current, err := named.ID == named.ID, f.CheckFile(path, locked)",
		[]string{"files", "simulation", "faults"},
	}, {
		"no fsync of files", "fileops/trust/write.go",
		"if f.Sync == disk.SyncNone {", "if f.Sync != -1 {",
		[]string{"files", "simulation"},
	}, {
		"no fsync of directories", "fileops/durable.go",
		"		if err == nil {\n			err = dir.Sync()\n		}",
		"		if err == nil {\n			_ = dir\n		}",
		[]string{"files", "simulation"},
	}, {
		"acknowledge before commit", "fileops/edit.go",
		"return 0, dirs.end(outcome, commitErr)", "return 0, dirs.end(outcome, nil)",
		[]string{"files", "simulation", "faults"},
	}, {
		"detect and act in two holds", "fileops/operation.go",
		"	return operations.Edit(l, id, mode, verb)\n",
		"	early, _, earlyErr := l.ReadOperation(id)\n" +
			"	return operations.Edit(l, id, mode, func(before protocol.Operation, seen " +
			"observe.Observation) (protocol.Operation, error) {\n" +
			"		if earlyErr == nil && before.ID == id {\n			early.Revision = " +
			"before.Revision\n			before = early\n		}\n" +
			"		return verb(before, seen)\n	})\n",
		[]string{"files", "simulation", "histories"},
	}, {
		"identity by pid only", "cmd/internal/process/identity_linux.go",
		"	if p.PidfdInode != 0 {\n",
		"	p.PidfdInode = 0\n	if s, err := look(p.PID); err == nil {\n		p.StartTicks = " +
			"s.startTicks\n	}\n	if p.PidfdInode != 0 {\n",
		[]string{"identity"},
	}, {
		"missing read as empty", "fileops/open.go",
		"case len(inOperations)+len(inQueues) == 0 && !slices.ContainsFunc(names, isGroupFile):",
		"case len(inOperations)+len(inQueues) >= 0 || !slices.ContainsFunc(names, isGroupFile):",
		[]string{"files", "scripts"},
	}, {
		"rename on a shared ledger", "fileops/ledger.go",
		"func (l *Ledger) linked() bool { return l.config.Commit == CommitLink }",
		"func (l *Ledger) linked() bool { return l.config.Commit == \"\" }",
		[]string{"files", "simulation"},
	}, {
		"cascade over supervised", "protocol/pop.go",
		"f.State == FrameCrashed && e.unsupervised(f)", "f.State == FrameCrashed",
		[]string{"vectors", "simulation", "scripts"},
	}, {
		"revival of a crashed frame", "protocol/heartbeat.go",
		"if !a.has(f) || !f.State.Live() || a.foreign(f)",
		"if f.State == FrameCrashed && a.has(f) {\n			e.own(i).State = " +
			"FrameActive\n		}\n		if !a.has(f) || a.foreign(f)",
		[]string{"vectors", "simulation", "scripts"},
	},
}
