package fileops

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// sweepGroups does for groups what sweepOperations does for operations. It needs no sense in a group's files.
func (l *Ledger) sweepGroups() error {
	names, err := l.readDir(l.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if file, _, isTemp := strings.Cut(name, tempMark); isTemp && file == filepath.Base(l.marker()) {
			err = errors.Join(err, l.removeIfThere(filepath.Join(l.dir, name))) // who still writes it finds the marker
		}
		if isScratch(name) {
			err = errors.Join(err, l.sweepScratch(name))
		}
	}
	left := groupLeftovers(names)
	for _, id := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, l.sweepGroup(id, left[id]))
	}
	return err
}

// SweepGroup is Sweep for the files of one group: a pass tidies up after those before it that were killed.
func (l *Ledger) SweepGroup(id string) error {
	defer l.fs.Refresh()
	names, err := l.readDir(l.dir)
	if temps := groupLeftovers(names)[id]; len(temps) > 0 {
		err = errors.Join(err, l.sweepGroup(id, temps))
	}
	return err
}

// groupLeftovers returns the groups that have something to tidy up, and their temporary files.
func groupLeftovers(names []string) map[string][]string {
	left, exists := make(map[string][]string), make(map[string]bool)
	var locked []string
	for _, name := range names {
		file, isTemp := targetOf(name)
		switch id, suffix, ok := groupOf(file); {
		case !ok:
		case isTemp:
			left[id] = append(left[id], name)
		case suffix == groupLockSuffix:
			locked = append(locked, id)
		case suffix != alertsSuffix && name == file:
			exists[id] = true
		}
	}
	for _, id := range locked {
		if _, known := left[id]; !known && !exists[id] {
			left[id] = nil
		}
	}
	return left
}

func (l *Ledger) sweepGroup(id string, temps []string) error {
	if info, err := l.fs.Lstat(l.groupLock(id)); err == nil && info.Size > 0 && len(temps) == 0 {
		return nil // it is somebody else's
	}
	lock, err := l.lockGroup(id, OrCreate|Try, &lockWait{})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, temp := range temps {
		err = errors.Join(err, l.removeIfThere(filepath.Join(l.dir, temp)))
	}
	if !l.hasGroup(id) {
		err = errors.Join(err, l.removeGroupLock(id))
	} else if l.linked() {
		err = errors.Join(err, l.settleFile(l.supervisors(id)), l.settleFile(l.orchestrator(id)))
	}
	return errors.Join(err, lock.Unlock())
}
