package fileops

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
)

// Every file name of a ledger is made or taken apart here. No id contains ~, so what follows one is never part of an id.

const (
	trashPrefix = ".dpl-trash-"
	tempMark    = ".tmp~"
)

func (l *Ledger) operations() string             { return filepath.Join(l.dir, "operations") }
func (l *Ledger) archive() string                { return filepath.Join(l.dir, "archive") }
func (l *Ledger) tmp() string                    { return filepath.Join(l.dir, "tmp") }
func (l *Ledger) operation(id string) string     { return filepath.Join(l.operations(), id+".json") }
func (l *Ledger) operationLock(id string) string { return l.operation(id) + ".lock" }
func (l *Ledger) operationTmp(id string) string  { return filepath.Join(l.tmp(), id) }

// archived is the name of the nth archived copy, counted from 1.
func (l *Ledger) archived(id string, n int) string {
	if n > 1 {
		id += "~" + strconv.Itoa(n)
	}
	return filepath.Join(l.archive(), id+".json")
}

// random is the part of a name that makes it new.
func random() string {
	return fmt.Sprintf("%016x", rand.Uint64())
}

func tempOf(path string) string { return path + tempMark + random() }

// operationOfTemp returns the id of the operation that the temporary file name belongs to: an edit's, or a lock file's.
func operationOfTemp(name string) (id string, ok bool) {
	path, _, ok := strings.Cut(name, tempMark)
	if !ok {
		return "", false
	}
	return operationOf(strings.TrimSuffix(path, ".lock"))
}

// operationOf returns the id of the operation that the file name belongs to.
func operationOf(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, ".json")
	return id, ok && validID(id)
}

// archivedOf returns the id of the operation that the file name in archive/ is a copy of, and which copy.
func archivedOf(name string) (id string, n int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".json")
	id, number, numbered := strings.Cut(stem, "~")
	n = 1
	if numbered {
		var err error
		n, err = strconv.Atoi(number)
		ok = ok && err == nil && n > 1 && strconv.Itoa(n) == number
	}
	return id, n, ok && validID(id)
}

func isTrash(name string) bool {
	suffix, ok := strings.CutPrefix(name, trashPrefix)
	return ok && len(suffix) == 16 && strings.Trim(suffix, "0123456789abcdef") == ""
}

func newTrashName() string { return trashPrefix + random() }

func newJournalName(id string) string { return newTrashName() + "." + id + ".json" }

// operationOfJournal returns the id in the name of a journal.
func operationOfJournal(name string) (id string, ok bool) {
	if trash, file, found := strings.Cut(strings.TrimPrefix(name, "."), "."); found && isTrash("."+trash) {
		return operationOf(file)
	}
	return "", false
}

// validID reports whether id is one: ^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$ without "..".
func validID(id string) bool {
	if id == "" || len(id) > 128 || strings.Contains(id, "..") {
		return false
	}
	for i := range len(id) {
		c := id[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || c != '.' && c != '_' && c != ':' && c != '-') {
			return false
		}
	}
	return true
}

func checkID(id string) error {
	if !validID(id) {
		return fmt.Errorf("%q is not an id", id)
	}
	return nil
}
