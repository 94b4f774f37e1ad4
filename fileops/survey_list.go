package fileops

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
)

// top lists the ledger directory. It judges leftovers like sweepGroups.
func (s *Survey) top() error {
	l := s.Ledger
	names, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return err
	}

	slices.Sort(names)
	left := leftovers(names, groupRole)
	for _, name := range names {
		f := Found{Path: filepath.Join(l.dir, name)}
		target, isTemp := targetOf(name)
		id, role := groupRole(name)

		switch {
		case f.Path == l.marker():
			f.Kind = Marker
		case f.Path == l.operations() || f.Path == l.archive() || f.Path == l.tmp() ||
			f.Path == l.logs():
			f.Kind = Directory
		case isScratch(name):
			f.Kind, f.Orphaned = ScratchDirectory, true
		case role == temporary || isTemp && target == filepath.Base(l.marker()):
			f.Kind, f.ID, f.Orphaned = TempFile, id, true
		case role == beside:
			f.Kind, f.ID = VersionFile, id
		case id != "":
			_, suffix, _ := groupOf(name)
			f.Kind, f.ID = groupKind(suffix), id
			_, ownerless := left[id]
			f.Orphaned = ownerless && role == locking &&
				errors.Is(l.present(l.groupDocument(id)), fs.ErrNotExist)
		}

		if err := s.add(f); err != nil {
			return err
		}
	}

	return nil
}

func groupKind(suffix string) Kind {
	switch suffix {
	case orchestratorSuffix:
		return OrchestratorFile
	case supervisorsSuffix:
		return SupervisorsFile
	case alertsSuffix:
		return AlertsFile
	}

	return LockFile
}

// operations lists operations/. It judges leftovers like sweepOperations.
func (s *Survey) operations() error {
	l := s.Ledger
	names, err := l.readDir(l.operations())
	if err != nil {
		return err
	}

	slices.Sort(names)
	s.there = make(map[string]bool)
	for _, name := range names {
		if id, role := operationRole(name); role == itself || role == beside {
			s.there[id] = true
		}
	}

	for _, name := range names {
		f := Found{Path: filepath.Join(l.operations(), name)}
		switch id, role := operationRole(name); role {
		case temporary:
			f.Kind, f.ID, f.Orphaned = TempFile, id, true
		case itself:
			f.Kind, f.ID = OperationFile, id
		case beside:
			f.Kind, f.ID = VersionFile, id
		case locking:
			f.Kind, f.ID, f.Orphaned = LockFile, id, !s.there[id]
		}

		if err := s.add(f); err != nil {
			return err
		}
	}

	return nil
}

func (s *Survey) archive() error {
	l := s.Ledger
	names, err := l.readDir(l.archive())
	if err != nil {
		return err
	}

	slices.Sort(names)
	for _, name := range names {
		f := Found{Path: filepath.Join(l.archive(), name)}
		group, _, _ := strings.Cut(name, "~")
		if id, _, ok := archivedOf(name); ok {
			f.Kind, f.ID = ArchivedFile, id
		} else if _, ok := l.registryCopies(group).number(name); ok {
			f.Kind, f.ID = ArchivedRegistry, group
		}

		if err := s.add(f); err != nil {
			return err
		}
	}

	return nil
}

// tmp lists tmp/. It must run after operations: a directory that exists before its operation is no
// leftover.
func (s *Survey) tmp() error {
	l := s.Ledger
	names, err := l.readDir(l.tmp())
	if err != nil {
		return err
	}

	slices.Sort(names)
	for _, name := range names {
		f := Found{Path: filepath.Join(l.tmp(), name)}
		if id, ok := operationOfJournal(name); ok {
			f.Kind, f.ID, f.Orphaned = TrashFile, id, true
		} else if isTrash(name) {
			f.Kind, f.Orphaned = TrashFile, true
		} else if validID(name) {
			f.Kind, f.ID, f.Orphaned = TmpDirectory, name, s.there != nil && !s.there[name]
		}

		if err := s.add(f); err != nil {
			return err
		}

		if f.Kind == TmpDirectory && !f.Orphaned {
			if err := s.trashOf(f); err != nil {
				return err
			}
		}
	}

	return nil
}

// trashOf lists the trash in the temporary directory of an operation.
func (s *Survey) trashOf(dir Found) error {
	names, err := s.Ledger.readDir(dir.Path)
	for _, name := range names {
		if isTrash(name) {
			err = errors.Join(err,
				s.add(Found{Path: filepath.Join(dir.Path, name), Kind: TrashFile, ID: dir.ID,
					Orphaned: true}))
		}
	}
	return err
}

// Inspect surveys the ledger in dir. It returns ErrNoLedger if there is none.
func Inspect(dir string, o Options) (*Survey, error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, err
	}

	s := &Survey{Ledger: l, Refusal: l.open()}
	if errors.Is(s.Refusal, ErrNoLedger) {
		return nil, s.Refusal
	}

	// a survey must also report what commands refuse
	l.fs = l.fs.Within(l.dir, func(string, disk.Info) error { return nil })
	if s.Network, err = l.fs.Network(l.dir); err != nil {
		return nil, err
	}

	s.note(s.above())
	if s.note(s.top()) {
		s.note(s.operations())
		s.note(s.archive())
		s.note(s.tmp())
	}

	return s, nil
}
