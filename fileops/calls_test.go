package fileops

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

var randomPart = regexp.MustCompile(`~[0-9a-f]{16}`)

// callsOf returns the system calls of one edit of an existing operation, one per line.
func callsOf(t *testing.T, o Options, heartbeat bool) string {
	t.Helper()
	var trace []string
	p := &simfs.Process{Disk: simfs.New(), Trace: func(call string) { trace = append(trace, call) }}
	o.FS = p
	l, err := Create(simLedger, Config{}, o)
	must(t, err)
	must(t, edits(add("a", false))(l))
	trace = nil
	must(t, l.Edit("op", Existing, func(tx *byteTx) error {
		trace = append(trace, "change")
		return add("b", heartbeat)(tx)
	}))

	calls := strings.ReplaceAll(strings.Join(trace, "\n"), simLedger+"/operations", "operations")

	return randomPart.ReplaceAllString(calls, "~") + "\n"
}

// The order is the promise, and the number of calls is the price.
func TestSystemCallsOfAnEdit(t *testing.T) {
	t.Parallel()
	const before = `lock operations/op.json.lock
stat lock
stat operations/op.json.lock
create operations/op.json.tmp~
open operations/op.json
fstat
read
close
change
write
`
	const file = before + "fsync\n"
	const rename = "stat operations/op.json.lock\nreplace operations/op.json\n"
	none := before + "close\n" + rename + "unlock\n"
	onlyFile := file + "close\n" + rename + "unlock\n"
	full := file + "close\nopen operations\n" + rename + "fsync\nclose\nunlock\n"

	for _, c := range []struct {
		sync      disk.Sync
		heartbeat bool
		want      string
	}{
		{disk.SyncDefault, false, full}, {disk.SyncDefault, true, onlyFile},
		{disk.SyncNone, false, none}, {disk.SyncNone, true, none},
		{disk.SyncFile, false, onlyFile}, {disk.SyncFile, true, onlyFile},
		{disk.SyncFull, false, full}, {disk.SyncFull, true, full},
	} {
		if got := callsOf(t, Options{Sync: c.sync}, c.heartbeat); got != c.want {
			t.Errorf("sync %d, heartbeat %v: got\n%s\nwant\n%s", c.sync, c.heartbeat, got, c.want)
		}
	}
}

// groupCalls returns the system calls of a pass that has one alert to append, or of a heartbeat.
func groupCalls(t *testing.T, o Options, beat bool) string {
	t.Helper()
	var trace []string
	p := &simfs.Process{Disk: simfs.New(), Trace: func(call string) { trace = append(trace, call) }}
	o.FS = p
	l, err := Create(simLedger, Config{}, o)
	must(t, err)
	must(t, (&passing{name: "a"}).run(l))
	trace = nil
	must(t, (&passing{name: "b", beat: beat}).run(l))

	return strings.ReplaceAll(randomPart.ReplaceAllString(strings.Join(trace, "\n"), "~"),
		simLedger, ".") + "\n"
}

// A pass commits, appends its alert, and commits that.
func TestSystemCallsOfAPass(t *testing.T) {
	t.Parallel()
	const begin = `lock ./g.lock
stat lock
stat ./g.lock
create ./g.supervisors.json.tmp~
open ./g.orchestrator.json
fstat
read
close
open ./g.supervisors.json
fstat
read
close
`
	const write = "write\nfsync\nclose\n"
	const syncDir = "fsync\nclose\n"
	const pass = begin + write + "create ./g.orchestrator.json.tmp~\n" + write +
		"open .\nstat ./g.lock\nreplace ./g.supervisors.json\nreplace ./g.orchestrator.json\n" + syncDir +
		"stat ./g.alerts.jsonl\nopen append ./g.alerts.jsonl\nfstat\nread at\n" + write +
		"create ./g.supervisors.json.tmp~\n" + write +
		"open .\nstat ./g.lock\nreplace ./g.supervisors.json\n" + syncDir + "unlock\n"
	const beat = begin + write + "stat ./g.lock\nreplace ./g.supervisors.json\nunlock\n"
	for _, c := range []struct {
		sync disk.Sync
		beat bool
		want string
	}{
		{disk.SyncDefault, false, pass}, {disk.SyncFull, false, pass}, {disk.SyncDefault, true, beat},
		{disk.SyncFile, true, beat},
		{disk.SyncFile, false, strings.NewReplacer("open .\n", "", "json\n"+syncDir,
			"json\n").Replace(pass)},
		{disk.SyncNone, false, strings.NewReplacer("open .\n", "", "json\n"+syncDir, "json\n", "fsync\n",
			"").Replace(pass)},
	} {
		if got := groupCalls(t, Options{Sync: c.sync}, c.beat); got != c.want {
			t.Errorf("sync %d, beat %v: got\n%s\nwant\n%s", c.sync, c.beat, got, c.want)
		}
	}
}

// A quiet pass changes only the second file. It writes the temporary file that it has anyway. That
// is so whether or not the group has a record.
func TestSystemCallsOfAQuietPass(t *testing.T) {
	t.Parallel()
	for _, recorded := range []bool{false, true} {
		var trace []string
		p := &simfs.Process{Disk: simfs.New(), Trace: func(call string) { trace = append(trace, call) }}
		l, err := Create(simLedger, Config{}, Options{FS: p})
		must(t, err)
		must(t, (&passing{name: "a"}).run(l))
		if recorded {
			must(t, auditedGroup(t, l).Switch(true))
		}
		must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
			trace = nil
			g := tx.Value()
			g.Orchestrator.Revision++
			return tx.Commit(g)
		}))

		got := strings.ReplaceAll(randomPart.ReplaceAllString(strings.Join(trace, "\n"), "~"),
			simLedger, ".") + "\n"
		want := "write\nfsync\nclose\nopen .\nstat ./g.lock\nreplace ./g.orchestrator.json\n" +
			"fsync\nclose\nunlock\n"
		if recorded { // it was compared with the registry
			want = strings.Replace(want, "unlock", "close\nunlock", 1)
		}
		if got != want {
			t.Errorf("recorded: %v: got\n%s\nwant\n%s", recorded, got, want)
		}
		if g := readGroup(t, l, "g"); g.Orchestrator.Revision != 2 {
			t.Errorf("got revision %d", g.Orchestrator.Revision)
		}
	}
}

// A process that was killed before it committed, or after it archived, leaves a lock file.
func TestLockFileWithoutOperation(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	never := func(*byteTx) error { t.Error("change was called without an operation"); return nil }

	for _, want := range []error{ErrNotFound, ErrArchived} {
		writeFile(t, l.OperationLock("op"), "")
		if err := l.Edit("op", Existing, never); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if left := filesIn(t, l.OperationsDir()); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		must(t, edits(add("a", false), archive)(l))
	}
}

// An edit of an attempt's operation by its runner syncs no directory. If it removes the operation,
// it makes no temporary file, except where other hosts may change it.
func TestSystemCallsOfAnAttempt(t *testing.T) {
	t.Parallel()
	const before = "lock O/op.json.lock\nstat lock\nstat O/op.json.lock\n"
	const temp = "create O/op.json.tmp~\n"
	const read = "open O/op.json\nfstat\nread\nclose\n"
	const rest = "write\nfsync\nclose\nstat O/op.json.lock\nreplace O/op.json\nreaddir tmp/op\nunlock\n"
	const remove = "remove O/op.json\nremove O/op.json.lock\nunlock\n"
	const look = "stat O/op.json.lock\nstat tmp/op\n"
	for _, c := range []struct {
		network   string
		push, pop string
	}{
		{"", before + read + temp + rest, before + read + look + remove},
		{"nfs", before + temp + read + rest, before + temp + read + look + "close\nremove O/op.json.tmp~\n" + remove},
	} {
		var trace []string
		disk := simfs.New()
		disk.Network = c.network
		p := &simfs.Process{Disk: disk, Trace: func(call string) { trace = append(trace, call) }}
		l, err := Create(simLedger, Config{Commit: CommitRename}, Options{FS: p,
			Observe: func() observe.Observation {
				return observe.Observation{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			}})
		must(t, err)
		_, err = l.EditOperation("op", OrCreate, func(op protocol.Operation,
			seen observe.Observation) (protocol.Operation, error) {
			return protocol.Create("op", "", 0, time.Hour).Push(protocol.Push{Participant: "p", Call: "c"}, seen)
		})
		must(t, err)

		calls := func(do func() error) string {
			trace = nil
			must(t, do())
			all := strings.NewReplacer(simLedger+"/operations", "O", simLedger+"/", "").
				Replace(strings.Join(trace, "\n"))
			return randomPart.ReplaceAllString(all, "~") + "\n"
		}
		push := calls(func() error {
			_, err := l.EditOperation("op", Existing|Own, func(op protocol.Operation,
				seen observe.Observation) (protocol.Operation, error) {
				return op.Push(protocol.Push{Participant: "p", Call: "d"}, seen)
			})
			return err
		})
		pop := calls(func() error {
			_, err := l.FinishOperation("op", func(op protocol.Operation,
				seen observe.Observation) (protocol.Operation, error) {
				op, err := op.Pop(protocol.Pop{Call: "d"}, seen)
				if err == nil {
					op, err = op.Pop(protocol.Pop{Call: "c"}, seen)
				}
				return op, err
			})
			return err
		})
		if push != c.push || pop != c.pop {
			t.Errorf("network %q: got\n%s\nand\n%s\nwant\n%s\nand\n%s", c.network, push, pop, c.push, c.pop)
		}
	}
}
