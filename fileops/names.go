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

// archivedRegistry is the name of the nth copy of a group's supervisors file, counted from 1. No operation has such a name.
func (l *Ledger) archivedRegistry(group string, n int) string {
	return filepath.Join(l.archive(), group+"~supervisors~"+strconv.Itoa(n)+".json")
}

// archived is the name of the nth archived copy, counted from 1.
func (l *Ledger) archived(id string, n int) string {
	if n > 1 {
		id += "~" + strconv.Itoa(n)
	}
	return filepath.Join(l.archive(), id+".json")
}

// archivedAny stands for all archived copies, in messages.
func (l *Ledger) archivedAny(id string) string { return filepath.Join(l.archive(), id+"*.json") }

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

// operationOfTemp returns the id of the operation that the temporary file name belongs to: an edit's, or a lock file's.
func operationOfTemp(name string) (id string, ok bool) {
	path, ok := targetOf(name)
	if !ok {
		return "", false
	}
	return operationOf(strings.TrimSuffix(path, lockSuffix))
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
	stem, ok := strings.CutSuffix(name, ".json")
	id, number, numbered := strings.Cut(stem, "~")
	n = 1
	if numbered {
		var err error
		n, err = strconv.Atoi(number)
		ok = ok && err == nil && 1 < n && n <= maxCopy && strconv.Itoa(n) == number
	}
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

// archivedRegistryOf returns which copy of the group's supervisors file the file name in archive/ is.
func archivedRegistryOf(group, name string) (n int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	number, isCopy := strings.CutPrefix(stem, group+"~supervisors~")
	n, err := strconv.Atoi(number)
	return n, ok && isCopy && err == nil && 0 < n && n <= maxCopy
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
