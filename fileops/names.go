package fileops

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol"
)

// Every file name of a ledger is made or taken apart here, which a test sees to. No id contains ~,
// so what follows one is never part of an id.

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

// A document is the names of what is kept together, under one lock.
type document struct {
	id      string
	dir     string   // where its files are
	lock    string   // its lock file
	paths   []string // its files, in the order in which an edit commits them
	copies  copies   // where its file goes when it is over; the zero value if it never is
	calls   bool     // its calls have temporary directories, in tmp/{id}
	missing error    // says that there is none
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

// OperationName returns the name of the file of an operation.
func OperationName(id string) string { return id + ".json" }

// operation joins what is clean by itself: filepath.Join would look at each byte, which a pass over many operations notices.
func (l *Ledger) operation(id string) string {
	const separator = string(filepath.Separator)
	return l.dir + separator + "operations" + separator + OperationName(id)
}

// What follows the id of a group in the names of its files. No name ends in two of them, so the id may end in anything.
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
func (l *Ledger) alerts(group string) string    { return filepath.Join(l.dir, group+alertsSuffix) }
func (l *Ledger) groupLock(group string) string { return filepath.Join(l.dir, group+groupLockSuffix) }
func (l *Ledger) logs() string                  { return filepath.Join(l.dir, "logs") }
func (l *Ledger) groupLogs(group string) string { return filepath.Join(l.logs(), group) }

// LogPath returns the path of the file for the output of a supervisor, whether or not it is there.
func (l *Ledger) LogPath(group, supervisor string) string {
	return filepath.Join(l.dir, logOf(group, supervisor))
}

// logOf returns the path of the log of a supervisor in the ledger directory.
func logOf(group, supervisor string) string {
	return filepath.Join("logs", group, supervisor+logSuffix)
}

// logSuffix follows the id of a supervisor in the name of its log.
const logSuffix = ".log"

// rotatedLogOf is the name of the nth file before the log at path, counted from 1, the newest.
func rotatedLogOf(path string, n int) string { return path + "." + strconv.Itoa(n) }

// nextLogOf is the name of the file that becomes the newest one before the log at path.
func nextLogOf(path string) string { return path + ".next" }

// rotatedLog returns which file before the log of the name log the file name is.
func rotatedLog(log, name string) (n int, ok bool) {
	number, ok := strings.CutPrefix(name, log+".")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == number
}

// versionOf is the name of version n of the file at path (see state).
func versionOf(path string, n int64) string { return path + "." + strconv.FormatInt(n, 10) }

// originOf is the name of the empty file that the first version of the file at path follows.
func originOf(path string) string { return path + ".origin" }

// sightingsOf is the name of the file in which a host keeps what it remembers of the file at path.
func sightingsOf(path, host string) string { return path + sightingsMark + host }

// maxRevision is the highest revision of a file (spec §1.3). The version after it says that an operation is over.
const maxRevision = 1 << 62

// cutVersion returns the name of the file that the file name is a version of, and which.
func cutVersion(name string) (file string, n int64, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 64)
	return name[:i], n, err == nil && 0 <= n && n <= maxRevision+1 && strconv.FormatInt(n, 10) == name[i+1:] && strings.HasSuffix(name[:i], ".json")
}

// versionedOf returns the name of the file that the file name is a version of, or what the first one follows, or says what a
// host remembers of.
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

// copies are the names in the archive of the copies of one file, counted from 1.
type copies struct {
	stem  string // path of the first one, without .json
	first string // follows the stem in the name of the first one
}

func (l *Ledger) operationCopies(id string) copies { return copies{filepath.Join(l.archive(), id), ""} }

// registryCopies are those of a group's supervisors file. No operation has such a name.
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

// any stands for all copies, in messages.
func (c copies) any() string { return c.stem + "*.json" }

// number returns which copy the file name in the archive is.
func (c copies) number(name string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(name, filepath.Base(c.stem))
	if !ok || rest == c.first+".json" {
		return 1, ok
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(rest, ".json"), "~")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil && 1 < n && n <= maxCopy && filepath.Base(c.path(n)) == name
}

// archived is the path of the nth archived copy of an operation.
func (l *Ledger) archived(id string, n int) string { return l.operationCopies(id).path(n) }

// random is the part of a name that makes it new.
func random() string {
	return fmt.Sprintf("%016x", rand.Uint64())
}

func tempOf(path string) string { return path + tempMark + random() }

// targetOf returns what the temporary file name belongs to: a file, or that of which its target says what a host remembers.
func targetOf(name string) (file string, isTemp bool) {
	file, _, isTemp = strings.Cut(name, tempMark)
	file, _, _ = strings.Cut(file, sightingsMark)
	return strings.TrimSuffix(file, originOf("")), isTemp
}

// A role is what a file is to a document.
type role int

const (
	foreign   role = iota // it belongs to none
	itself                // it is one of its files
	locking               // it is its lock file
	temporary             // an edit has left it
	beside                // it is a version, or what one follows, or says what a host remembers
)

// operationRole returns what the file name in operations/ is, and to which operation.
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

// groupRole returns what the file name in the ledger directory is, and to which group. A file of alerts
// is no part of the document.
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

// operationOf returns the id of the operation that the file name belongs to.
func operationOf(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".json")
	return id, ok && validID(id)
}

// maxCopy is the highest number of a copy in the archive. No other name is one, so that one more can always be counted.
const maxCopy = 1<<31 - 1

// archivedOf returns the id of the operation that the file name in archive/ is a copy of, and which copy.
func archivedOf(name string) (id string, n int, ok bool) {
	id, _, _ = strings.Cut(strings.TrimSuffix(name, ".json"), "~")
	n, ok = copies{stem: id}.number(name)
	return id, n, ok && validID(id)
}

// groupOf returns the id of the group that the file name in the ledger directory belongs to, and what follows the id.
func groupOf(name string) (id, suffix string, ok bool) {
	for _, suffix := range []string{orchestratorSuffix, supervisorsSuffix, alertsSuffix, groupLockSuffix} {
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

// scratchLock is the lock file of a scratch directory, held as long as it is in use.
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
