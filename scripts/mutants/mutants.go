package main

// A tier is a kind of tests, as they are run by make check, or less of it.
type tier struct {
	args []string
	env  []string
}

var tiers = map[string]tier{
	"vectors":    {args: []string{"./protocol"}},
	"files":      {args: []string{"./fileops"}},
	"simulation": {args: []string{"./cmd/internal/simulation", "-run", "Histories"}, env: []string{"DPL_HISTORIES=20s"}},
	"scripts":    {args: []string{"./testscripts", "-run", "TestScripts"}},
	"identity":   {args: []string{"./testscripts", "-run", "TestIdentity|TestClock"}},
	"faults":     {args: []string{"./scripts/faults"}},
	"histories":  {args: []string{"./scripts/linearize", "-run", "TestHistories"}},
}

// A mutant is a bug: in file, old is replaced by new.
type mutant struct {
	name     string
	file     string
	old, new string
	by       []string // the tiers that are asked
}

var mutants = []mutant{
	{
		"no lock", "fileops/fs_unix.go",
		"l.flock(unix.LOCK_EX | unix.LOCK_NB)", "l.flock(unix.LOCK_SH | unix.LOCK_NB)",
		[]string{"files", "faults", "histories"},
	}, {
		"lock without inode check", "fileops/lock.go",
		"return named.ID == locked.ID, l.trustFile(path, locked)", "return named.ID == named.ID, l.trustFile(path, locked)",
		[]string{"files", "simulation", "faults"},
	}, {
		"no fsync of files", "fileops/replace.go",
		"if err == nil && sync != SyncNone {\n		err = file.Sync()", "if err == nil && sync == -1 {\n		err = file.Sync()",
		[]string{"files", "simulation"},
	}, {
		"no fsync of directories", "fileops/replace.go",
		"		if err == nil {\n			err = dir.Sync()\n		}", "		if err == nil {\n			_ = dir\n		}",
		[]string{"files", "simulation"},
	}, {
		"acknowledge before commit", "fileops/commit.go",
		"		tx.discardQueued()\n	}\n	return dirs.end(tx.outcome, err)", "		tx.discardQueued()\n	}\n	return dirs.end(tx.outcome, nil)",
		[]string{"files", "simulation", "faults"},
	}, {
		"detect and act in two holds", "fileops/operation.go",
		"	err = l.Edit(id, mode, func(tx *Tx) error {\n		archived = false\n		before, err := tx.operation()\n",
		"	early, _, earlyErr := l.ReadOperation(id)\n	err = l.Edit(id, mode, func(tx *Tx) error {\n		archived = false\n		before, err := tx.operation()\n" +
			"		if err == nil && earlyErr == nil && before.ID == id {\n			early.Revision = before.Revision\n			before = early\n		}\n",
		[]string{"files", "simulation", "histories"},
	}, {
		"identity by pid only", "cmd/internal/process/identity_linux.go",
		"return err != nil || startTicks > 0 && found > 0 && found != startTicks", "return err != nil || found < 0",
		[]string{"identity"},
	}, {
		"missing read as empty", "fileops/ledger.go",
		"case len(inOperations) == 0 && !slices.ContainsFunc(names, isGroupFile):", "case len(inOperations) >= 0 || !slices.ContainsFunc(names, isGroupFile):",
		[]string{"files", "scripts"},
	}, {
		"rename on a shared ledger", "fileops/version.go",
		"func (l *Ledger) linked() bool { return l.config.Commit == CommitLink }", "func (l *Ledger) linked() bool { return l.config.Commit == \"\" }",
		[]string{"files", "simulation"},
	}, {
		"cascade over supervised", "protocol/pop.go",
		"f.State == FrameCrashed && e.unsupervised(f)", "f.State == FrameCrashed",
		[]string{"vectors", "simulation", "scripts"},
	}, {
		"revival of a crashed frame", "protocol/heartbeat.go",
		"if !a.has(f) || !f.State.Live() || a.foreign(f)", "if f.State == FrameCrashed && a.has(f) {\n			e.own(i).State = FrameActive\n		}\n		if !a.has(f) || a.foreign(f)",
		[]string{"vectors", "simulation", "scripts"},
	},
}
