package layout

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Kind is the kind of a file in a ledger.
type Kind int

// The kinds of files.
const (
	Stranger         Kind = iota // not DPL's
	Directory                    // one of the ledger's own
	MarkerFile                   // ledger.json
	OperationFile                //
	ArchivedFile                 // a copy of an operation
	SupervisorsFile              // of a group
	OrchestratorFile             // of a group
	AlertsFile                   // of a group
	EarlierAlerts                // of a group: an AlertsFile that was rotated
	ArchivedRegistry             // a copy of a group's supervisors file
	VersionFile                  // a version, an origin, or what a host remembers of a file
	LockFile                     // of an operation or group
	TempFile                     // of an edit
	TrashFile                    // something being deleted; with an id, a note about it
	TmpDirectory                 // of an operation
	QueueFile                    //
	EndedFile                    // of a queue
	IndexFile                    // of an EndedFile
	AuditFile                    // of an operation, group or queue: its log, or a sealed part of it
	ScratchDirectory             // for testing the file system
	LogFile                      // of a service
	DataFile                     // of a task, a start, a note or a failure, in a directory of such
)

// The functions below return the kind of the file name in a directory of the ledger, and the id of
// the operation or group to which it belongs, or "".

// InLedger is for the ledger's own directory.
func InLedger(name string) (kind Kind, id string) {
	switch name {
	case Marker:
		return MarkerFile, ""
	case "operations", "archive", "tmp", "logs", "exits", "restarts", "queues", notesName,
		failuresName:
		return Directory, ""
	}

	file, role := owner(name)
	if id, _, ok := inAudit(file); ok {
		return belonging(id, role, AuditFile)
	}
	switch number, isScratch := strings.CutPrefix(name, scratchPrefix); {
	case isScratch && isRandom(number):
		return ScratchDirectory, ""
	case role == TempFile && file == Marker:
		return TempFile, ""
	}

	for _, c := range []struct {
		suffix string
		kind   Kind
	}{
		{orchestratorSuffix, OrchestratorFile}, {supervisorsSuffix, SupervisorsFile},
		{alertsSuffix, AlertsFile}, {earlierAlertsSuffix, EarlierAlerts},
		{lockSuffix, LockFile}, {healthSuffix, LockFile},
	} {
		if id, ok := strings.CutSuffix(file, c.suffix); ok {
			return belonging(id, role, c.kind)
		}
	}

	return Stranger, ""
}

// InOperations is for operations/.
func InOperations(name string) (kind Kind, id string) {
	file, role := owner(name)
	if id, _, ok := inAudit(file); ok {
		return belonging(id, role, AuditFile)
	}
	kind = OperationFile
	file, isLock := strings.CutSuffix(file, lockSuffix)
	if isLock {
		kind = LockFile
	}

	id, ok := strings.CutSuffix(file, ".json")
	if !ok {
		return Stranger, ""
	}
	return belonging(id, role, kind)
}

// InQueues is for queues/.
func InQueues(name string) (kind Kind, id string) {
	if name == tasksName {
		return Directory, ""
	}
	file, role := owner(name)
	if id, ok := strings.CutSuffix(file, endedSuffix); ok {
		return belonging(id, role, EndedFile)
	}
	if id, ok := strings.CutSuffix(file, indexSuffix); ok {
		return belonging(id, role, IndexFile)
	}
	kind, id = InOperations(name) // audit logs, too, have the same names
	if kind == OperationFile {
		kind = QueueFile
	}
	return kind, id
}

// inAudit splits the name of an audit log, or of a sealed part of one, which has a number.
func inAudit(name string) (id string, part int, ok bool) {
	stem, isLog := strings.CutSuffix(name, jsonlSuffix)
	if id, ok := strings.CutSuffix(stem, auditSuffix); ok {
		return id, 0, isLog
	}
	id, digits, isPart := strings.Cut(stem, auditSuffix+"~")
	n, ok := number(digits, MaxCopy)
	return id, int(n), isLog && isPart && ok && n > 0
}

// AuditPart returns the number of the file name, if it is a sealed part of the audit log named log.
func AuditPart(log, name string) (n int, ok bool) {
	id, n, ok := inAudit(name)
	return n, ok && n > 0 && id+auditSuffix+jsonlSuffix == log
}

// IsNote reports whether name is that of a text in notes/.
func IsNote(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// InFailures is for failures/. It returns the operation, its run or "", and the revision of its
// failure.
func InFailures(name string) (op, run string, revision int64, ok bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, lockSuffix), saidSuffix)
	op, digits, ok := strings.Cut(name, "~")
	if before, after, hasRun := strings.Cut(digits, "~"); hasRun {
		run, digits = before, after
		ok = wire.CheckID(run) == nil
	}
	if !ok || wire.CheckID(op) != nil {
		return "", "", 0, false
	}
	revision, ok = number(digits, 2*wire.LastRevision) // what a reader accepts
	return op, run, revision, ok
}

// A TaskFile is a file in the directory of the tasks of a queue, as its name tells.
type TaskFile struct {
	Task   string
	Digits string // of the hash of a spec; "": the file is of an attempt
	Epoch  int64
	Log    bool // the output of the attempt
	Start  bool // how its files were at its start
}

// Report reports whether f is the report of an attempt.
func (f TaskFile) Report() bool { return f.Digits == "" && !f.Log && !f.Start }

// InTasks is for the directory of a queue in queues/tasks/.
func InTasks(name string) (f TaskFile, ok bool) {
	stem, isJSON := strings.CutSuffix(name, ".json")
	if !isJSON {
		if stem, f.Log = strings.CutSuffix(name, logSuffix); !f.Log {
			return f, false
		}
	} else {
		stem, f.Start = strings.CutSuffix(stem, startMark)
	}

	task, rest, named := strings.Cut(stem, "~")
	f.Task = task
	if len(rest) == 64 && strings.Trim(rest, "0123456789abcdef") == "" && isJSON && !f.Start {
		f.Digits = rest
		return f, named && validID(task)
	}
	f.Epoch, ok = number(rest, MaxRevision)
	return f, ok && named && validID(task)
}

// InArchive is for archive/. It also returns the number of the copy.
func InArchive(name string) (kind Kind, id string, n int) {
	id, _, _ = strings.Cut(strings.TrimSuffix(name, ".json"), "~")
	if !validID(id) {
		return Stranger, "", 0
	}
	if n, ok := (Paths{}).OperationCopies(id).Number(name); ok {
		return ArchivedFile, id, n
	}
	if n, ok := (Paths{}).RegistryCopies(id).Number(name); ok {
		return ArchivedRegistry, id, n
	}
	return Stranger, "", 0
}

// InTmp is for tmp/.
func InTmp(name string) (kind Kind, id string) {
	rest, isTrash := strings.CutPrefix(name, trashPrefix)
	number, file, isJournal := strings.Cut(rest, ".")
	id, ok := strings.CutSuffix(file, ".json")

	switch {
	case isTrash && isRandom(rest):
		return TrashFile, ""
	case isTrash && isJournal && isRandom(number) && ok && validID(id):
		return TrashFile, id
	case validID(name):
		return TmpDirectory, name
	}

	return Stranger, ""
}

// InRestarts is for the directory of a group in restarts/. It returns the service and the id of the
// start that the name of a restart file has.
func InRestarts(name string) (service, start string, ok bool) {
	stem, ok := strings.CutSuffix(name, restartSuffix)
	service, start, named := strings.Cut(stem, "~")
	return service, start, ok && named && validID(service) && isRandom(start)
}

// InExits is for the directory of a group in exits/. It returns the service and the id of the start
// that the name of a record has.
func InExits(name string) (service, start string, ok bool) {
	stem, complete := strings.CutSuffix(name, exitSuffix)
	if !complete {
		stem, ok = strings.CutSuffix(name, reservedSuffix)
	}
	service, start, named := strings.Cut(stem, "~")
	return service, start, (complete || ok) && named && validID(service) && isRandom(start)
}

// IsTrash reports whether name is that of something that will be deleted.
func IsTrash(name string) bool {
	kind, id := InTmp(name)
	return kind == TrashFile && id == ""
}

// owner returns the name of the file to which the file name belongs, as a TempFile or VersionFile;
// or, for a Stranger to all that, its own. A temporary file for what a host remembers belongs to
// the file that this is about.
func owner(name string) (file string, role Kind) {
	file, _, isTemp := strings.Cut(name, tempMark)
	file, _, remembers := strings.Cut(file, sightingsMark)
	file, isOrigin := strings.CutSuffix(file, originSuffix)
	of, _, isVersion := cutVersion(file)

	switch {
	case isTemp:
		return file, TempFile
	case remembers || isOrigin:
		return file, VersionFile
	case isVersion:
		return of, VersionFile
	}

	return name, Stranger
}

// belonging returns the kind of a file that belongs in a role to one of the given kind. Only files
// with documents have versions.
func belonging(id string, role, kind Kind) (Kind, string) {
	switch {
	case !validID(id) || role == VersionFile && (kind == LockFile || kind == AlertsFile ||
		kind == EarlierAlerts || kind == EndedFile || kind == IndexFile || kind == AuditFile):
		return Stranger, ""
	case role != Stranger:
		return role, id
	}
	return kind, id
}

// Leftovers returns the documents that have something to tidy up, with their temporary files.
func Leftovers(names []string,
	kindOf func(name string) (Kind, string)) map[string][]string {
	left, exists := make(map[string][]string), make(map[string]bool)
	var ownerless []string
	for _, name := range names {
		switch kind, id := kindOf(name); kind {
		case TempFile:
			left[id] = append(left[id], name)
		case LockFile, VersionFile:
			ownerless = append(ownerless, id)
		case OperationFile, SupervisorsFile, OrchestratorFile, QueueFile:
			exists[id] = true
		}
	}

	delete(left, "") // of ledger.json
	for _, id := range ownerless {
		if _, known := left[id]; !known && !exists[id] {
			left[id] = nil
		}
	}

	return left
}

// MaxRevision is the highest revision of a file (spec §1.3). The version after it means that an
// operation is over.
const MaxRevision = 1 << 62

// Version returns the number of the file name, if it is a version of the file named of.
func Version(name, of string) (n int64, ok bool) {
	file, n, ok := cutVersion(name)
	return n, ok && file == of
}

// cutVersion splits the name of a version into the name of the file and the number of the version.
func cutVersion(name string) (file string, n int64, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", 0, false
	}
	n, ok = number(name[i+1:], MaxRevision+1)
	return name[:i], n, ok && strings.HasSuffix(name[:i], ".json")
}

// number returns the number that text is, as strconv would write it, from 0 to most.
func number(text string, most int64) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && 0 <= n && n <= most && strconv.FormatInt(n, 10) == text
}

// MaxCopy is the highest number of a copy in the archive. Names with higher numbers do not count,
// so there is always a next number.
const MaxCopy = 1<<31 - 1

// Number returns the number of the copy with the file name name.
func (c Copies) Number(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(name, filepath.Base(c.stem))
	if !ok || rest == c.first+".json" {
		return 1, ok
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(rest, ".json"), "~")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && 1 < n && n <= MaxCopy && filepath.Base(c.Path(n)) == name
}

// IsLog reports whether name is the log of a service, or one before it.
func IsLog(name string) bool {
	service, rest, isLog := strings.Cut(name, logSuffix)
	_, _, rotated := RotatedLog(name[:len(name)-len(rest)], name)
	return isLog && validID(service) && (rest == "" || rotated)
}

// RotatedLog returns the number n of the file name, if it is one before the log named log, and
// whether it is compressed.
func RotatedLog(log, name string) (n int, compressed, ok bool) {
	number, ok := strings.CutPrefix(name, log+".")
	number, compressed = strings.CutSuffix(number, gzipSuffix)
	n, err := strconv.Atoi(number)
	return n, compressed, ok && err == nil && n > 0 && strconv.Itoa(n) == number
}

// TempFor returns the file name for which the file name is a temporary one, if it is one.
func TempFor(name string) (of string, ok bool) {
	of, number, ok := strings.Cut(name, tempMark)
	return of, ok && isRandom(number)
}

// IsTemp reports whether name is a temporary file for the file named of.
func IsTemp(name, of string) bool { return strings.HasPrefix(name, of+tempMark) }

// IsNewFile reports whether name is a new file that will replace the file named of.
func IsNewFile(name, of string) bool {
	number, ok := strings.CutPrefix(name, newPrefix(of))
	return ok && isRandom(number)
}

// IsSightings reports whether name has what a host remembers about the file named of.
func IsSightings(name, of string) bool { return strings.HasPrefix(name, of+sightingsMark) }

// isRandom reports whether text may come from random.
func isRandom(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

func validID(id string) bool { return wire.CheckID(id) == nil }
