package layout

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dpl-project/dpl/protocol/wire"
)

// FuzzNames checks that the id parsed from a file name is valid, and makes that name again.
func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"a.json", "a.json.lock", "a.json.tmp~0123456789abcdef", "a.json.lock.tmp~1", "a~2.json",
		"a~1.json", "a~02.json", "a~+2.json", "a~2~3.json",
		"g~supervisors~1.json", "g~supervisors~x.json", "g.orchestrator.json", "g.supervisors.json",
		"g.alerts.jsonl", "g.lock", ".lock", "a.json.7", "a.json.origin", "a.json.seen~h", "g.lock.origin",
		".dpl-trash-0123456789abcdef", ".dpl-trash-0123456789ABCDEF",
		".dpl-trash-0123456789abcdef.a.json", ".dpl-trash-0123456789abcdef.a..json",
		".dpl-trash-0.a.json", "..json", "", ".json", "a/b.json", "a\x00.json", "é.json",
		"s~0123456789abcdef.json", "s~0123456789abcde.json", "~0123456789abcdef.json",
		"s~0123456789abcdef.tmp", "s~0123456789abcde.tmp", "s.tmp",
		"g.supervisors.json.tmp~1", "a~99999999999999999999.json",
		"tasks", "q.ended.jsonl", "q.ended.index", "q.ended.jsonl.tmp~0123456789abcdef", "..ended.jsonl",
		"t~1.log", "t~0.log", "t~1.json.tmp~0123456789abcdef", "t~1", "t.log", "~1.log",
		"t~" + strings.Repeat("0a", 32) + ".json", "t~" + strings.Repeat("0a", 32) + ".log",
		"t~" + strings.Repeat("0A", 32) + ".json",
		"a~3", "a~3.lock", "a~03", "a~3.lock.lock", "..~3", "a~99999999999999999999",
	} {
		f.Add(name)
	}

	p := In("/l")
	f.Fuzz(func(t *testing.T, name string) {
		check := func(kind Kind, id, again string) {
			t.Helper()
			if kind != Stranger && wire.CheckID(id) != nil {
				t.Errorf("%q: kind %v, id %q", name, kind, id)
			}
			if again != "" && filepath.Base(again) != name {
				t.Errorf("%q: kind %v, id %q, which makes %q", name, kind, id, again)
			}
		}

		kind, id := InOperations(name)
		check(kind, id, map[Kind]string{OperationFile: p.OperationPath(id),
			LockFile: p.OperationLock(id)}[kind])
		if kind, id := InQueues(name); name != tasksName {
			check(kind, id, map[Kind]string{QueueFile: p.QueuePath(id), LockFile: p.QueueLock(id),
				EndedFile: p.EndedPath(id), IndexFile: p.EndedIndex(id)}[kind])
		}
		kind, id, n := InArchive(name)
		check(kind, id, map[Kind]string{ArchivedFile: p.ArchivePath(id, n),
			ArchivedRegistry: p.RegistryCopies(id).Path(n)}[kind])
		if kind, id := InLedger(name); id != "" {
			lock := p.GroupLock(id)
			if strings.HasSuffix(name, healthSuffix) {
				lock = p.HealthLock(id)
			}
			check(kind, id, map[Kind]string{SupervisorsFile: p.SupervisorsPath(id),
				OrchestratorFile: p.OrchestratorPath(id), AlertsFile: p.AlertsPath(id),
				EarlierAlerts: p.EarlierAlerts(id), LockFile: lock}[kind])
		}

		if service, start, ok := InRestarts(name); ok {
			if again := p.RestartPath("g", service, start); filepath.Base(again) != name {
				t.Errorf("%q: service %q, start %q, which makes %q", name, service, start, again)
			}
		}

		if file, ok := InTasks(name); ok {
			again := p.AttemptReport("q", file.Task, file.Epoch)
			switch {
			case file.Digits != "":
				again = p.SpecPath("q", file.Task, file.Digits)
			case file.Log:
				again = p.AttemptLog("q", file.Task, file.Epoch)
			case file.Start:
				again = p.AttemptStart("q", file.Task, file.Epoch)
			}
			if filepath.Base(again) != name {
				t.Errorf("%q: %+v, which makes %q", name, file, again)
			}
		}
		if op, run, revision, ok := InFailures(name); ok {
			told, said := p.FailurePath(op, run, revision), p.SaidPath(op, run, revision)
			if name != filepath.Base(told) && name != filepath.Base(FailureLock(told)) &&
				name != filepath.Base(said) && name != filepath.Base(FailureLock(said)) {
				t.Errorf("%q: operation %q, run %q, revision %d", name, op, run, revision)
			}
		}
		if of, ok := TempFor(name); ok && !IsTemp(name, of) {
			t.Errorf("%q is a temporary file for %q, and is not", name, of)
		}

		if service, start, ok := InExits(name); ok {
			complete, reserved := p.ExitPath("g", service, start), p.ReservedExitPath("g", service, start)
			if name != filepath.Base(complete) && name != filepath.Base(reserved) ||
				CompleteExit(reserved) != complete {
				t.Errorf("%q: service %q, start %q", name, service, start)
			}
		}

		number, isTrash := strings.CutPrefix(name, ".dpl-trash-")
		switch kind, id := InTmp(name); {
		case kind == TmpDirectory:
			check(kind, id, id)
		case kind == TrashFile && id != "":
			check(kind, id, ".dpl-trash-"+number[:min(16, len(number))]+"."+id+".json")
		case kind == TrashFile && (!isTrash || len(number) != 16 || filepath.Base(name) != name):
			t.Errorf("%q is trash", name)
		}
	})
}

// A new file of a name that is as long as a name may be has a name that the file system accepts. It
// ends with a whole character, and is found as one of that file.
func TestNewFileOfALongName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("n", 255), "x" + strings.Repeat("é", 127), "short"} {
		path := NewFileOf(filepath.Join("/dir", name))
		base := filepath.Base(path)
		if filepath.Dir(path) != "/dir" || len(base) > 255 || !utf8.ValidString(base) ||
			!IsNewFile(base, name) || IsNewFile(base, "other") {
			t.Errorf("%q: got %q", name, path)
		}
	}
}

// Numbers of rotated logs are canonical, and compressed files have them as well.
func TestRotatedLog(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		n          int
		compressed bool
	}{
		"s.log.1": {1, false}, "s.log.27": {27, false}, "s.log.1.gz": {1, true},
		"s.log.10.gz": {10, true}, "s.log": {}, "s.log.0": {}, "s.log.0.gz": {}, "s.log.01": {},
		"s.log.-1.gz": {}, "s.log..gz": {}, "s.log.gz": {}, "s.log.1.gz.gz": {}, "s.log.1.bz": {},
		"s.log.next": {}, "t.log.1.gz": {}, "s.log.1.gz.tmp~0123456789abcdef": {},
	} {
		n, compressed, ok := RotatedLog("s.log", name)
		if want.n == 0 {
			n, compressed = 0, false
		}
		if n != want.n || compressed != want.compressed || ok != (want.n > 0) {
			t.Errorf("%s: got %d, %t, %t, want %v", name, n, compressed, ok, want)
		}
		isLog := ok || name == "s.log" || name == "t.log.1.gz"
		if IsLog(name) != isLog {
			t.Errorf("%s: is a log: %t", name, !isLog)
		}
		if again := CompressedLogOf("s.log", n); compressed && again != name {
			t.Errorf("%s: got %s again", name, again)
		}
	}
}
