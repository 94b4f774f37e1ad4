package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// A lesson is a bug in one of the subtlest rules. It names a function, and no line of it: its body
// begins with something else.
type lesson struct {
	name  string // what the program does with the bug in it
	in    string // the package and the function: "fileops/trust FS.verify"
	begin string // what the body begins with
	why   string // what the bug teaches
	by    []string
}

const (
	vectors = "./protocol ^TestVectors$"
	groups  = "./protocol/group ^TestVectors$"
	queues  = "./protocol/queue ^TestVectors$"
	edits   = "./fileops"
)

var lessons = []lesson{
	// Locks
	{"no lock", "fileops/disk lockFile.TryLock",
		"had, err = l.flock.TryRLock(); return had, err",
		"two edits read the same version, and the second one undoes the first",
		[]string{edits + " TestManyProcessesLoseNothing"}},
	{"lock without inode check", "fileops/trust FS.verify",
		"locked, err := lock.Stat(); return locked.ID, true, err",
		"a lock on a removed file protects nothing",
		[]string{edits + " TestReplacedLockFileIsNoticed|TestRemovedLock"}},
	{"a lock that was lost is not noticed", "fileops edit.checkLock",
		"return nil",
		"the lock file can be removed between the lock and the commit",
		[]string{edits + " TestInterleavings|TestRemovedLock"}},
	{"rename on a shared ledger", "fileops Ledger.use",
		"c.Commit = CommitRename",
		"on a network a lock is a lease, so the commit itself must refuse the second writer",
		[]string{edits + " TestLink"}},

	// Durability
	{"no fsync of files", "fileops/trust FS.SyncFile",
		"return nil",
		"the new name may survive a power cut without the contents",
		[]string{edits + " TestEveryFaultAtEveryCall"}},
	{"no fsync of directories", "fileops directories.sync",
		"if err == nil { return dirs.close() }",
		"the contents may survive a power cut without the new name",
		[]string{edits + " TestEveryFaultAtEveryCall"}},
	{"acknowledged before the commit", "fileops directories.end",
		"err = nil",
		"a rename that failed is an edit that was not made",
		[]string{edits + " TestEveryFaultAtEveryCall"}},
	{"a failed rename has not happened", "fileops directories.end",
		"if made == store.MayBeMade { made = store.NotMade }",
		"a rename can take effect and fail, so the status must be 71",
		[]string{edits + " TestUnknownOutcome"}},
	{"nothing to do is not made durable", "fileops Ledger.syncDirOnly",
		"return nil",
		"the edit that is reported as done was made by a process that was killed before its fsync",
		[]string{edits + " TestADiskErrorChangesNothing"}},

	// Trust and deletion
	{"directories of anybody", "fileops Ledger.checkDir",
		"return nil",
		"who can write to a ledger can make it run commands",
		[]string{edits + " TestUntrustedDirectories"}},
	{"a resource may contain a home", "fileops/resource Rules.spare",
		"return nil",
		"a cleanup deletes what a participant has named",
		[]string{edits + " TestWhatAResourceContains"}},

	// Identity and evidence
	{"identity by pid only", "cmd/internal/process Look",
		"p.PidfdInode = 0; if s, err := look(p.PID); err == nil { p.StartTicks = s.startTicks }",
		"the kernel uses the number of a dead process again",
		[]string{"./testscripts TestIdentity"}},
	{"another inode does not matter", "protocol/observe Process.Is",
		"p.PidfdInode, q.PidfdInode = 0, 0",
		"two processes can start in the same tick", []string{vectors, groups}},
	{"a stopped process is stale", "cmd/internal/process Look",
		"if Stopped(p) { return observe.Unseen }",
		"a process that exists is alive, even if it does nothing",
		[]string{"./testscripts TestScripts/^alive$"}},
	{"another pid namespace does not matter", "protocol/observe Observation.CanCheck",
		"return p.HostID != \"\" && p.HostID == seen.Host.ID && p.BootID == seen.Host.BootID",
		"the same number is another process in a container", []string{vectors, groups}},
	{"a start by a part of its id", "cmd/internal/process listsID",
		"return strings.Contains(ids, id)",
		"a pass must not signal processes of another start",
		[]string{"./cmd/internal/process TestSurvivors$"}},
	{"a record of another process", "protocol/group ExitRecord.of",
		"return x.ServiceID == s.ID && x.StartID == s.StartID",
		"a keeper may report the end of the process before", []string{groups}},
	{"a present process is judged by its heartbeats", "protocol/observe Observation.CountsHeartbeats",
		"return true",
		"a busy process that promised nothing is not stale", []string{vectors}},
	{"a grace granted twice", "protocol/observe Observation.Grant",
		"v.Grace = nil",
		"each observer would grant one more, and nobody would ever be stale",
		[]string{vectors, groups}},
	{"a grace that does not end", "protocol/observe Observation.graced",
		"return v.Grace.counting(v.LastHeartbeat) != nil",
		"it is one threshold long", []string{vectors}},

	// Operations
	{"cascade over a supervised crash", "protocol edit.unsupervised",
		"return true",
		"a supervisor must see the calls whose effects it undoes", []string{vectors}},
	{"a verb is for every run", "protocol Operation.isRun",
		"return true",
		"a command of last night must not end the backup of tonight", []string{vectors}},

	// Queues and questions
	{"an epoch that nobody checks", "protocol/queue Queue.Settle",
		"if t := q.Task(s.Task); t != nil && t.Claim != nil { s.Epoch = t.Claim.Epoch }",
		"a worker that was given up must not settle the attempt of the next one", []string{queues}},
	{"a task that is changed in place", "protocol/queue edit.own",
		"e.changed = true; return e.q.Tasks[i]",
		"queues share their tasks, and a refused edit must change nothing",
		[]string{queues, "./protocol/queue TestMachine"}},
	{"a timer by the wall clock", "protocol/queue Timer.Left",
		"t.Beat = observe.Beat{}",
		"a step of the clock must not end a delay", []string{queues}},
	{"the nonce is not shown", "protocol/queue Shown.Hash",
		"s.Nonce = s.ID",
		"a signed yes must not answer the next question that looks alike", []string{queues}},
	{"any line of the record is the yes", "protocol/queue Ended.Answers",
		"return true",
		"a yes counts only if the record has it", []string{edits + " TestTake"}},
	{"a cd stays where it was", "protocol/question moves",
		"return false",
		"a rule for a directory must not allow a command in another one",
		[]string{"./protocol/question ^TestVectors$"}},

	// The chain
	{"a line of the record names no line before it", "protocol/audit Chain.Append",
		"c.Head = \"\"",
		"a line could be taken out, and nobody could tell", []string{edits + " TestAudit"}},
	{"a wrong hash of the line before", "protocol/audit Verifier.badLink",
		"return",
		"a line that was changed is found by the next one", []string{"./protocol/audit"}},

	// Groups
	{"another machine with this host id is not noticed", "protocol/group Group.TwoMachines",
		"return false",
		"cloned machines would run everything twice", []string{groups}},
	{"a prompt takes over", "protocol/group Group.promptCounts",
		"owner = g.Registry.Owner",
		"the keeper of a service must not take a group from its orchestrator", []string{groups}},
	{"a barrier that nobody waits for", "protocol/group/plan mustEnd",
		"return false",
		"services that restart together end before the first one starts", []string{groups}},
}

// mutant returns the mutant of l. root is the directory of the module. A file in edited already has
// that text.
func (l lesson) mutant(root string, edited map[string]string) (mutant, error) {
	pkg, function, _ := strings.Cut(l.in, " ")
	entries, err := os.ReadDir(filepath.Join(root, pkg))
	if err != nil {
		return mutant{}, err
	}

	for _, entry := range entries {
		name := entry.Name()
		built, err := build.Default.MatchFile(filepath.Join(root, pkg), name)
		isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if err != nil || !built || !isGo {
			continue
		}

		file := filepath.Join(pkg, name)
		text, known := edited[file]
		if !known {
			source, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				return mutant{}, err
			}
			text = string(source)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			return mutant{}, err
		}
		for _, d := range tree.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil && nameOf(f) == function {
				at := int(f.Body.Lbrace)
				text := text[:at] + " { " + l.begin + " }; " + text[at:]
				return mutant{name: l.name, file: file, text: text, by: l.by, must: true}, nil
			}
		}
	}
	return mutant{}, fmt.Errorf("%s: there is no %s", l.name, l.in)
}

// nameOf returns the name of f, with the type of its receiver.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
