package fileops

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol"
)

// Every file name of a ledger is made or parsed here; a test checks that. No id contains ~, so text
// after a ~ is never part of an id.

// MarkerName is the name of the file that makes a directory a ledger.
const MarkerName = "ledger.json"

const (
	trashPrefix   = ".dpl-trash-"
	tempMark      = ".tmp~"
	sightingsMark = ".seen~"
	scratchPrefix = ".dpl-scratch-"
	lockSuffix    = ".lock"
)

func (l *Ledger) marker() string                 { return filepath.Join(l.dir, MarkerName) }
func (l *Ledger) operations() string             { return filepath.Join(l.dir, "operations") }
func (l *Ledger) archive() string                { return filepath.Join(l.dir, "archive") }
func (l *Ledger) tmp() string                    { return filepath.Join(l.dir, "tmp") }
func (l *Ledger) operationLock(id string) string { return l.operation(id) + lockSuffix }
func (l *Ledger) operationTmp(id string) string  { return filepath.Join(l.tmp(), id) }

// A document is the names of the files that are kept together under one lock.
type document struct {
	id      string
	dir     string   // the directory of its files
	lock    string   // its lock file
	paths   []string // its files, in the order of a commit
	copies  copies   // the archive names for when it is over; the zero value if it never is
	calls   bool     // its calls have temporary directories, in tmp/{id}
	missing error    // the error if it does not exist
}

func (l *Ledger) operationDocument(id string) document {
	return document{
		id: id, dir: l.operations(), lock: l.operationLock(id), paths: []string{l.operation(id)},
		copies: l.operationCopies(id), calls: true, missing: ErrNotFound,
	}
}

func (l *Ledger) groupDocument(id string) document {
	return document{
		id: id, dir: l.dir, lock: l.groupLock(id), missing: ErrNoGroup,
		paths: []string{l.supervisors(id), l.orchestrator(id)},
	}
}

// TmpDir returns the path of the temporary directory of a call, which exists if its push asked for
// one.
func (l *Ledger) TmpDir(op, call string) string { return filepath.Join(l.operationTmp(op), call) }

// OperationName returns the file name of an operation.
func OperationName(id string) string { return id + ".json" }

// operation joins names that are known to be clean. filepath.Join would examine each byte, which is
// noticeable in a pass over many operations.
func (l *Ledger) operation(id string) string {
	const separator = string(filepath.Separator)
	return l.dir + separator + "operations" + separator + OperationName(id)
}

// The suffixes after the id of a group in its file names. No name ends in two of them, so an id may
// end in anything.
const (
	orchestratorSuffix = ".orchestrator.json"
	supervisorsSuffix  = ".supervisors.json"
	alertsSuffix       = ".alerts.jsonl"
	groupLockSuffix    = lockSuffix
)

// SupervisorsName and OrchestratorName return the names of the two files of a group.
func SupervisorsName(group string) string  { return group + supervisorsSuffix }
func OrchestratorName(group string) string { return group + orchestratorSuffix }

func (l *Ledger) orchestrator(group string) string {
	return filepath.Join(l.dir, OrchestratorName(group))
}
func (l *Ledger) supervisors(group string) string {
	return filepath.Join(l.dir, SupervisorsName(group))
}
func (l *Ledger) alerts(group string) string { return filepath.Join(l.dir, group+alertsSuffix) }
func (l *Ledger) groupLock(group string) string {
	return filepath.Join(l.dir,
		group+groupLockSuffix)
}
func (l *Ledger) logs() string                  { return filepath.Join(l.dir, "logs") }
func (l *Ledger) groupLogs(group string) string { return filepath.Join(l.logs(), group) }

// LogPath returns the path of the output file of a service, which need not exist.
func (l *Ledger) LogPath(group, supervisor string) string {
	return filepath.Join(l.dir, logOf(group, supervisor))
}

// logOf returns the path of the log of a service, relative to the ledger.
func logOf(group, supervisor string) string {
	return filepath.Join("logs", group, supervisor+logSuffix)
}

// logSuffix is the suffix of a log after the id of its service.
const logSuffix = ".log"

// rotatedLogOf returns the name of the nth file before the log at path. The newest is 1.
func rotatedLogOf(path string, n int) string { return path + "." + strconv.Itoa(n) }

// nextLogOf returns the name of the file that becomes the newest one before the log at path.
func nextLogOf(path string) string { return path + ".next" }

// rotatedLog returns the number n of the file name, if it is one before the log named log.
func rotatedLog(log, name string) (n int, ok bool) {
	number, ok := strings.CutPrefix(name, log+".")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == number
}

// versionOf returns the name of version n of the file at path (see state).
func versionOf(path string, n int64) string { return path + "." + strconv.FormatInt(n, 10) }

// originOf returns the name of the empty file that the first version of the file at path follows.
func originOf(path string) string { return path + ".origin" }

// sightingsOf returns the name of the file in which a host stores what it remembers about the file
// at path.
func sightingsOf(path, host string) string { return path + sightingsMark + host }

// maxRevision is the highest revision of a file (spec §1.3). The version after it means that an
// operation is over.
const maxRevision = 1 << 62

// cutVersion splits the name of a version into the name of the file and the number of the version.
func cutVersion(name string) (file string, n int64, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 64)
	return name[:i], n, err == nil && 0 <= n && n <= maxRevision+1 &&
		strconv.FormatInt(n, 10) == name[i+1:] && strings.HasSuffix(name[:i], ".json")
}

// versionedOf returns the name of the file to which the file name belongs: as a version of it, as
// its origin, or as what a host remembers about it.
func versionedOf(name string) (file string, ok bool) {
	if file, _, ok := strings.Cut(name, sightingsMark); ok {
		return file, true
	}
	if file, ok := strings.CutSuffix(name, originOf("")); ok {
		return file, true
	}
	file, _, ok = cutVersion(name)
	return file, ok
}

// copies are the names of the copies of one file in the archive, numbered from 1.
type copies struct {
	stem  string // path of the first one, without .json
	first string // the suffix after stem in the name of the first one
}

func (l *Ledger) operationCopies(id string) copies {
	return copies{filepath.Join(l.archive(), id),
		""}
}

// registryCopies returns the names for a group's supervisors file. No operation has such a name.
func (l *Ledger) registryCopies(group string) copies {
	return copies{filepath.Join(l.archive(), group+"~supervisors"), "~1"}
}

// path returns the path of the nth copy.
func (c copies) path(n int) string {
	if n == 1 {
		return c.stem + c.first + ".json"
	}
	return c.stem + "~" + strconv.Itoa(n) + ".json"
}

// any stands for all copies in messages.
func (c copies) any() string { return c.stem + "*.json" }

// number returns the number of the copy with the file name name.
func (c copies) number(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(name, filepath.Base(c.stem))
	if !ok || rest == c.first+".json" {
		return 1, ok
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(rest, ".json"), "~")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && 1 < n && n <= maxCopy && filepath.Base(c.path(n)) == name
}

// archived returns the path of the nth archived copy of an operation.
func (l *Ledger) archived(id string, n int) string { return l.operationCopies(id).path(n) }

// random returns the part of a name that makes it unique.
func random() string {
	return fmt.Sprintf("%016x", rand.Uint64())
}

func tempOf(path string) string { return path + tempMark + random() }

// targetOf returns the file to which the temporary file name belongs. A temporary file for what a
// host remembers belongs to the file that this is about.
func targetOf(name string) (file string, isTemp bool) {
	file, _, isTemp = strings.Cut(name, tempMark)
	file, _, _ = strings.Cut(file, sightingsMark)
	return strings.TrimSuffix(file, originOf("")), isTemp
}

// A role is the part that a file plays for a document.
type role int

const (
	foreign   role = iota // it belongs to no document
	itself                // it is one of its files
	locking               // it is its lock file
	temporary             // an edit has left it behind
	beside                // it is a version or an origin, or has what a host remembers
)

// operationRole returns the role of the file name in operations/, and the id of its operation.
func operationRole(name string) (id string, r role) {
	target, isTemp := targetOf(name)
	locked, isLock := strings.CutSuffix(target, lockSuffix)
	versioned, isVersion := versionedOf(name)

	switch {
	case isTemp:
		r, name = temporary, locked
	case isLock:
		r, name = locking, locked
	case isVersion:
		r, name = beside, versioned
	default:
		r = itself
	}

	id, ok := operationOf(name)
	if !ok {
		return "", foreign
	}

	return id, r
}

// groupRole returns the role of the file name in the ledger directory, and the id of its group. A
// file of alerts is not part of the document.
func groupRole(name string) (id string, r role) {
	target, isTemp := targetOf(name)
	if versioned, ok := versionedOf(name); ok && !isTemp {
		r, target = beside, versioned
	}

	id, suffix, ok := groupOf(target)
	switch {
	case !ok:
		return "", foreign
	case isTemp:
		r = temporary
	case suffix == alertsSuffix:
		return id, foreign
	case suffix == groupLockSuffix:
		r = locking
	case r != beside:
		r = itself
	}

	return id, r
}

// operationOf returns the id of the operation to which the file name belongs.
func operationOf(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".json")
	return id, ok && validID(id)
}

// maxCopy is the highest number of a copy in the archive. Names with higher numbers do not count,
// so there is always a next number.
const maxCopy = 1<<31 - 1

// archivedOf returns the id of the operation that the file name in archive/ is a copy of, and the
// number of the copy.
func archivedOf(name string) (id string, n int, ok bool) {
	id, _, _ = strings.Cut(strings.TrimSuffix(name, ".json"), "~")
	n, ok = copies{stem: id}.number(name)
	return id, n, ok && validID(id)
}

// groupOf returns the id of the group to which the file name in the ledger directory belongs, and
// the suffix after it.
func groupOf(name string) (id, suffix string, ok bool) {
	for _, suffix := range []string{orchestratorSuffix, supervisorsSuffix, alertsSuffix,
		groupLockSuffix} {
		if id, ok := strings.CutSuffix(name, suffix); ok {
			return id, suffix, validID(id)
		}
	}
	return "", "", false
}

func isTrash(name string) bool {
	suffix, ok := strings.CutPrefix(name, trashPrefix)
	return ok && len(suffix) == 16 && strings.Trim(suffix, "0123456789abcdef") == ""
}

func newTrashName() string { return trashPrefix + random() }

func newScratchName() string { return scratchPrefix + random() }

// scratchLock is the lock file of a scratch directory, held while it is in use.
func scratchLock(dir string) string { return filepath.Join(dir, "in-use") }

func isScratch(name string) bool {
	number, ok := strings.CutPrefix(name, scratchPrefix)
	return ok && isTrash(trashPrefix+number)
}

func newJournalName(id string) string { return newTrashName() + "." + id + ".json" }

// operationOfJournal returns the id in the name of a journal.
func operationOfJournal(name string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(name, trashPrefix)
	number, file, found := strings.Cut(rest, ".")
	if !ok || !found || !isTrash(trashPrefix+number) {
		return "", false
	}
	return operationOf(file)
}

func validID(id string) bool { return protocol.CheckID(id) == nil }
