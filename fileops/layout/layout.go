// Package layout has the names of the files in a ledger directory: it makes and parses all of them,
// which a test checks. No id contains ~, so text after a ~ is never part of an id.
package layout

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
)

// Marker is the name of the file that makes a directory a ledger.
const Marker = "ledger.json"

const (
	trashPrefix   = ".dpl-trash-"
	tempMark      = ".tmp~"
	sightingsMark = ".seen~"
	scratchPrefix = ".dpl-scratch-"
	newMark       = ".dpl~" // of a file outside the ledger, after a dot and its name
	logSuffix     = ".log"
	gzipSuffix    = ".gz"
	startMark     = ".start" // of an attempt, before .json
	originSuffix  = ".origin"
	restartSuffix = ".json"

	exitSuffix     = ".json"
	reservedSuffix = ".tmp"
)

// The suffixes after the id of a group in its file names. No name ends in two of them, so an id may
// end in anything.
const (
	orchestratorSuffix  = ".orchestrator.json"
	supervisorsSuffix   = ".supervisors.json"
	alertsSuffix        = ".alerts.jsonl"
	earlierAlertsSuffix = alertsSuffix + ".1"
	healthSuffix        = ".health" // the lock of the health checks of a group
	lockSuffix          = ".lock"   // also of an operation, after its file name
)

const (
	endedSuffix = ".ended.jsonl" // of a queue
	indexSuffix = ".ended.index"
	tasksName   = "tasks"
)

const (
	auditSuffix = ".audit" // of an object, before jsonlSuffix and perhaps the number of a sealed part
	jsonlSuffix = ".jsonl"
	notesName   = "notes"

	failuresName = "failures"
	saidSuffix   = ".said"
)

// Paths are the paths of the files of one ledger.
type Paths struct{ dir string }

// In returns the paths of the ledger in dir, which is absolute.
func In(dir string) Paths { return Paths{dir} }

// Dir returns the absolute path of the ledger.
func (p Paths) Dir() string { return p.dir }

func (p Paths) path(name string) string { return filepath.Join(p.dir, name) }

// MarkerPath returns the path of ledger.json.
func (p Paths) MarkerPath() string { return p.path(Marker) }

// OperationsDir returns the path of operations/.
func (p Paths) OperationsDir() string { return p.path("operations") }

// ArchiveDir returns the path of archive/.
func (p Paths) ArchiveDir() string { return p.path("archive") }

// TmpRoot returns the path of tmp/.
func (p Paths) TmpRoot() string { return p.path("tmp") }

// LogsDir returns the path of logs/.
func (p Paths) LogsDir() string { return p.path("logs") }

// RestartsDir returns the path of restarts/.
func (p Paths) RestartsDir() string { return p.path("restarts") }

// GroupRestarts returns the path of the directory in restarts/ that belongs to a group.
func (p Paths) GroupRestarts(group string) string { return filepath.Join(p.RestartsDir(), group) }

// RestartPath returns the path of the restart file of a start of a service.
func (p Paths) RestartPath(group, supervisor, start string) string {
	return filepath.Join(p.GroupRestarts(group), supervisor+"~"+start+restartSuffix)
}

// ExitsDir returns the path of exits/.
func (p Paths) ExitsDir() string { return p.path("exits") }

// OperationLock returns the path of the lock file of an operation.
func (p Paths) OperationLock(id string) string { return p.OperationPath(id) + lockSuffix }

// OperationTmp returns the path of the directory in tmp/ that belongs to an operation.
func (p Paths) OperationTmp(id string) string { return filepath.Join(p.TmpRoot(), id) }

// TmpDir returns the path of the temporary directory of a call in a run of an operation, which
// exists if its push asked for one.
func (p Paths) TmpDir(op, run, call string) string {
	return filepath.Join(p.OperationTmp(op), TmpName(run, call))
}

// TmpName returns the name of that directory. run may be "".
func TmpName(run, call string) string {
	if run == "" {
		return call
	}
	return run + "~" + call
}

// InOperationTmp returns the run and the call whose temporary directory has that name.
func InOperationTmp(name string) (run, call string) {
	if run, call, has := strings.Cut(name, "~"); has {
		return run, call
	}
	return "", name
}

// OperationName returns the file name of an operation.
func OperationName(id string) string { return id + ".json" }

// OperationPath returns the path of an operation. It joins names that are known to be clean:
// filepath.Join would examine each byte, which is noticeable in a pass over many operations.
func (p Paths) OperationPath(id string) string {
	const separator = string(filepath.Separator)
	return p.dir + separator + "operations" + separator + OperationName(id)
}

// SupervisorsName returns the file name of the registry of a group.
func SupervisorsName(group string) string { return group + supervisorsSuffix }

// OrchestratorName returns the file name of the orchestrator of a group.
func OrchestratorName(group string) string { return group + orchestratorSuffix }

// SupervisorsPath returns the path of the registry of a group.
func (p Paths) SupervisorsPath(group string) string { return p.path(SupervisorsName(group)) }

// OrchestratorPath returns the path of the orchestrator of a group.
func (p Paths) OrchestratorPath(group string) string { return p.path(OrchestratorName(group)) }

// AlertsPath returns the path of the alerts file of a group.
func (p Paths) AlertsPath(group string) string { return p.path(group + alertsSuffix) }

// EarlierAlerts returns the path of the alerts of a group before those in AlertsPath.
func (p Paths) EarlierAlerts(group string) string { return p.path(group + earlierAlertsSuffix) }

// GroupLock returns the path of the lock file of a group.
func (p Paths) GroupLock(group string) string { return p.path(group + lockSuffix) }

// HealthLock returns the path of the lock that a pass over a group holds while it checks the health
// of services.
func (p Paths) HealthLock(group string) string { return p.path(group + healthSuffix) }

// GroupLogs returns the path of the directory in logs/ that belongs to a group.
func (p Paths) GroupLogs(group string) string { return filepath.Join(p.LogsDir(), group) }

// LogPath returns the path of the output file of a service, which need not exist.
func (p Paths) LogPath(group, supervisor string) string {
	return p.path(LogOf(group, supervisor))
}

// LogOf returns the path of the log of a service, relative to the ledger.
func LogOf(group, supervisor string) string {
	return filepath.Join("logs", group, supervisor+logSuffix)
}

// GroupExits returns the path of the directory in exits/ that belongs to a group.
func (p Paths) GroupExits(group string) string { return filepath.Join(p.ExitsDir(), group) }

// ExitPath returns the path of the exit record of a start of a service, once it is complete.
func (p Paths) ExitPath(group, supervisor, start string) string {
	return filepath.Join(p.GroupExits(group), supervisor+"~"+start+exitSuffix)
}

// ReservedExitPath returns the path of the same record until then.
func (p Paths) ReservedExitPath(group, supervisor, start string) string {
	return filepath.Join(p.GroupExits(group), supervisor+"~"+start+reservedSuffix)
}

// CompleteExit returns the path of a record that is complete, given its path until then.
func CompleteExit(reserved string) string {
	return strings.TrimSuffix(reserved, reservedSuffix) + exitSuffix
}

// QueuesDir returns the path of queues/.
func (p Paths) QueuesDir() string { return p.path("queues") }

// QueueName returns the file name of a queue.
func QueueName(id string) string { return id + ".json" }

// QueuePath returns the path of a queue.
func (p Paths) QueuePath(id string) string {
	const separator = string(filepath.Separator)
	return p.dir + separator + "queues" + separator + QueueName(id)
}

// QueueLock returns the path of the lock file of a queue.
func (p Paths) QueueLock(id string) string { return p.QueuePath(id) + lockSuffix }

// EndedIndex returns the path of the file that tells which tasks are not in EndedPath.
func (p Paths) EndedIndex(id string) string {
	return filepath.Join(p.QueuesDir(), id+indexSuffix)
}

// EndedPath returns the path of the log of the tasks of a queue that ended long ago.
func (p Paths) EndedPath(id string) string {
	return filepath.Join(p.QueuesDir(), id+endedSuffix)
}

// QueueAudit returns the path of the audit log of a queue.
func (p Paths) QueueAudit(id string) string {
	return filepath.Join(p.QueuesDir(), id+auditSuffix+jsonlSuffix)
}

// OperationAudit returns the path of the audit log of an operation. It stays there when the
// operation is archived.
func (p Paths) OperationAudit(id string) string {
	return filepath.Join(p.OperationsDir(), id+auditSuffix+jsonlSuffix)
}

// GroupAudit returns the path of the audit log of a group.
func (p Paths) GroupAudit(group string) string { return p.path(group + auditSuffix + jsonlSuffix) }

// PartOf returns the path of the nth sealed part of the audit log at path. The first is 1.
func PartOf(path string, n int) string {
	return strings.TrimSuffix(path, jsonlSuffix) + "~" + strconv.Itoa(n) + jsonlSuffix
}

// NotesDir returns the path of notes/.
func (p Paths) NotesDir() string { return p.path(notesName) }

// NotePath returns the path of the text with the hash that has these digits.
func (p Paths) NotePath(digits string) string { return filepath.Join(p.NotesDir(), digits) }

// FailuresDir returns the path of failures/.
func (p Paths) FailuresDir() string { return p.path(failuresName) }

// FailurePath returns the path of the file that says that the failure of a run of an operation in a
// revision was given to a command. run is "" for an operation without runId.
func (p Paths) FailurePath(op, run string, revision int64) string {
	if run != "" {
		op += "~" + run
	}
	return filepath.Join(p.FailuresDir(), op+"~"+strconv.FormatInt(revision, 10))
}

// SaidPath returns the path of the file that says that it was printed.
func (p Paths) SaidPath(op, run string, revision int64) string {
	return p.FailurePath(op, run, revision) + saidSuffix
}

// FailureLock returns the path of the lock file that the file at path is until then.
func FailureLock(path string) string { return path + lockSuffix }

// LockedBy is the inverse of FailureLock. It reports false if path is no lock file.
func LockedBy(path string) (locked string, ok bool) { return strings.CutSuffix(path, lockSuffix) }

// TasksDir returns the path of the directory of the files of all tasks.
func (p Paths) TasksDir() string { return filepath.Join(p.QueuesDir(), tasksName) }

// QueueTasks returns the path of the directory of the files of the tasks of a queue.
func (p Paths) QueueTasks(id string) string { return filepath.Join(p.TasksDir(), id) }

// SpecPath returns the path of the spec of a task. digits are those of its hash.
func (p Paths) SpecPath(queue, task, digits string) string {
	return filepath.Join(p.QueueTasks(queue), task+"~"+digits+".json")
}

// AttemptLog returns the path of the output of an attempt.
func (p Paths) AttemptLog(queue, task string, epoch int64) string {
	return p.attempt(queue, task, epoch) + logSuffix
}

// AttemptReport returns the path of the report of an attempt.
func (p Paths) AttemptReport(queue, task string, epoch int64) string {
	return p.attempt(queue, task, epoch) + ".json"
}

// AttemptStart returns the path of what dpl-claim has seen of the files of an attempt at its start.
func (p Paths) AttemptStart(queue, task string, epoch int64) string {
	return p.attempt(queue, task, epoch) + startMark + ".json"
}

func (p Paths) attempt(queue, task string, epoch int64) string {
	return filepath.Join(p.QueueTasks(queue), task+"~"+strconv.FormatInt(epoch, 10))
}

// RotatedLogOf returns the name of the nth file before the log at path. The newest is 1.
func RotatedLogOf(path string, n int) string { return path + "." + strconv.Itoa(n) }

// CompressedLogOf returns the name of the same file, compressed.
func CompressedLogOf(path string, n int) string { return RotatedLogOf(path, n) + gzipSuffix }

// NextLogOf returns the name of the file that becomes the newest one before the log at path.
func NextLogOf(path string) string { return path + ".next" }

// NextCompressedOf returns the name under which a file before the log at path is compressed.
func NextCompressedOf(path string) string { return NextLogOf(path) + gzipSuffix }

// VersionOf returns the name of version n of the file at path (spec §17).
func VersionOf(path string, n int64) string { return path + "." + strconv.FormatInt(n, 10) }

// OriginOf returns the name of the empty file that the first version of the file at path follows.
func OriginOf(path string) string { return path + originSuffix }

// SightingsOf returns the name of the file in which a host stores what it remembers about the file
// at path.
func SightingsOf(path, host string) string { return path + sightingsMark + host }

// Copies are the names of the copies of one file in the archive, numbered from 1.
type Copies struct {
	stem  string // path of the first one, without .json
	first string // the suffix after stem in the name of the first one
}

// OperationCopies returns the names for an operation that is over.
func (p Paths) OperationCopies(id string) Copies {
	return Copies{filepath.Join(p.ArchiveDir(), id), ""}
}

// RegistryCopies returns the names for a group's supervisors file. No operation has such a name.
func (p Paths) RegistryCopies(group string) Copies {
	return Copies{filepath.Join(p.ArchiveDir(), group+"~supervisors"), "~1"}
}

// Path returns the path of the nth copy.
func (c Copies) Path(n int) string {
	if n == 1 {
		return c.stem + c.first + ".json"
	}
	return c.stem + "~" + strconv.Itoa(n) + ".json"
}

// Dir returns the path of their directory, archive/.
func (c Copies) Dir() string { return filepath.Dir(c.stem) }

// Any stands for all copies in messages.
func (c Copies) Any() string { return c.stem + "*.json" }

// ArchivePath returns the path of the nth archived copy of an operation.
func (p Paths) ArchivePath(id string, n int) string { return p.OperationCopies(id).Path(n) }

// random returns the part of a name that makes it unique. It does not use package fmt, because most
// edits need nothing else from it.
func random() string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, rand.Uint64()))
}

// TempOf returns the path of a new temporary file for the file at path.
func TempOf(path string) string { return path + tempMark + random() }

// NewFileOf returns the path of a new file, beside path, that will replace the file at path.
func NewFileOf(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, newPrefix(name)+random())
}

// newPrefix returns what the names of new files begin with that will replace the file name. It
// leaves out the end of a long name, because no name may have more than 255 bytes.
func newPrefix(name string) string {
	const most = 200
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	return "." + name + newMark
}

// NewTrash returns a name for something that will be deleted.
func NewTrash() string { return trashPrefix + random() }

// NewJournal returns the name in tmp/ of a note about trash of an operation.
func NewJournal(id string) string { return NewTrash() + "." + id + ".json" }

// NewScratch returns a name for a scratch directory.
func NewScratch() string { return scratchPrefix + random() }

// ScratchLock is the lock file of a scratch directory, held while it is in use.
func ScratchLock(dir string) string { return filepath.Join(dir, "in-use") }
