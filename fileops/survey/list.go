package survey

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
)

// top lists the ledger directory. It judges leftovers like sweepGroups.
func (s *Survey) top() error {
	l := s.Ledger
	names, err := s.files.ReadDir(l.Dir())
	if err != nil {
		return err
	}

	left := layout.Leftovers(names, layout.InLedger)
	return s.list(l.Dir(), names, layout.InLedger, func(id string) bool {
		_, ownerless := left[id]
		return ownerless && s.noGroup(id)
	})
}

// operations lists operations/. It judges leftovers like sweepOperations.
func (s *Survey) operations() error {
	names, err := s.files.Entries(s.Ledger.OperationsDir())
	if err != nil {
		return err
	}

	s.there = make(map[string]bool)
	for _, name := range names {
		kind, id := layout.InOperations(name)
		s.there[id] = s.there[id] || kind == layout.OperationFile || kind == layout.VersionFile
	}

	return s.list(s.Ledger.OperationsDir(), names, layout.InOperations,
		func(id string) bool { return !s.there[id] })
}

// queues lists queues/. It judges leftovers like sweepQueues.
func (s *Survey) queues() error {
	names, err := s.files.Entries(s.Ledger.QueuesDir())
	if err != nil {
		return err
	}

	left := layout.Leftovers(names, layout.InQueues)
	return s.list(s.Ledger.QueuesDir(), names, layout.InQueues, func(id string) bool {
		_, ownerless := left[id]
		return ownerless
	})
}

func (s *Survey) archive() error {
	names, err := s.files.Entries(s.Ledger.ArchiveDir())
	if err != nil {
		return err
	}

	return s.list(s.Ledger.ArchiveDir(), names, func(name string) (layout.Kind, string) {
		kind, id, _ := layout.InArchive(name)
		return kind, id
	}, nil)
}

// tmp lists tmp/. It must run after operations: a directory that exists before its operation is no
// leftover.
func (s *Survey) tmp() error {
	names, err := s.files.Entries(s.Ledger.TmpRoot())
	if err != nil {
		return err
	}

	return s.list(s.Ledger.TmpRoot(), names, layout.InTmp,
		func(id string) bool { return s.there != nil && !s.there[id] })
}

// list records the files in dir. kindOf is from their names; ownerless tells whether a lock file or
// temporary directory belongs to nothing that exists.
func (s *Survey) list(dir string, names []string, kindOf func(name string) (layout.Kind, string),
	ownerless func(id string) bool) error {
	slices.Sort(names)
	for _, name := range names {
		f := Found{Path: filepath.Join(dir, name)}
		switch f.Kind, f.ID = kindOf(name); f.Kind {
		case layout.TempFile, layout.TrashFile, layout.ScratchDirectory:
			f.Orphaned = true
		case layout.LockFile, layout.TmpDirectory:
			f.Orphaned = ownerless(f.ID)
		}

		if err := s.add(f); err != nil {
			return err
		}

		if f.Kind == layout.TmpDirectory && !f.Orphaned {
			if err := s.trashOf(f); err != nil {
				return err
			}
		}
	}

	return nil
}

// trashOf lists the trash in the temporary directory of an operation.
func (s *Survey) trashOf(dir Found) error {
	names, err := s.files.Entries(dir.Path)
	for _, name := range names {
		if layout.IsTrash(name) {
			err = errors.Join(err, s.add(Found{Path: filepath.Join(dir.Path, name),
				Kind: layout.TrashFile, ID: dir.ID, Orphaned: true}))
		}
	}
	return err
}

// noGroup reports whether there is no such group.
func (s *Survey) noGroup(id string) bool {
	_, err := s.Ledger.ReadGroup(id)
	return errors.Is(err, fileops.ErrNoGroup)
}

// Inspect surveys the ledger in dir. It returns fileops.ErrNoLedger if there is none.
func Inspect(dir string, o fileops.Options) (s *Survey, err error) {
	s = &Survey{}
	if s.Ledger, s.files, s.Refusal = fileops.OpenAnyway(dir, o); s.Ledger == nil {
		return nil, s.Refusal
	}
	if s.Network, err = s.files.Network(s.Ledger.Dir()); err != nil {
		return nil, err
	}

	s.note(s.above())
	if s.note(s.top()) {
		s.note(s.operations())
		s.note(s.queues())
		s.note(s.archive())
		s.note(s.tmp())
		s.note(s.nested())
	}

	return s, nil
}

// Read decodes f. See fileops.Ledger.Content.
func (s *Survey) Read(f Found) (fileops.Content, error) {
	return s.Ledger.Content(f.Path, f.Kind, f.ID)
}
