package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/resource"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
)

// effects are the changes that an edit makes besides its files: directories that it creates, and
// what it discards.
type effects struct {
	ledger *Ledger
	id     string   // the id of the operation
	run    string   // its run
	trash  []trash  // already renamed
	made   []string // calls whose temporary directories makeTmp has created
	spent  []string // calls whose temporary directories are discarded after the commit
	// the committed operation, if spent temporary directories are discarded with it
	after *protocol.Operation
}

// trash is something renamed to an unknown name, to be deleted later.
type trash struct {
	parent  disk.Root
	base    string // its name before
	name    string // its name in parent
	journal string // path of the note that says where it is, or "" if Sweep looks there anyway
	spent   bool   // it is not put back, whatever becomes of the edit
}

func (l *Ledger) closeTrash(t trash) error {
	t.parent.Close()
	if t.journal == "" {
		return nil
	}
	return l.fs.RemoveIfThere(t.journal)
}

// makeTmp creates the temporary directory of a call, for the user alone, or on a shared ledger for
// the group, which must be able to empty it. It discards what an earlier call with that id left
// there. If the edit is not committed, the directory is removed.
func (e *effects) makeTmp(call string) (path string, err error) {
	if err := wire.CheckID(call); err != nil {
		return "", err
	}

	l := e.ledger
	dir := l.OperationTmp(e.id)
	path = l.TmpDir(e.id, e.run, call)

	for _, d := range []string{l.TmpRoot(), dir} {
		if err := l.fs.EnsureDir(d); err != nil {
			return "", err
		}
	}

	if err := e.discardTmp(call); err != nil {
		return "", err
	}

	e.made = append(e.made, call)

	return path, l.fs.MakeDir(path)
}

// discardSpentTmp runs after a commit. It also discards what a killed edit should have discarded.
func (e *effects) discardSpentTmp() {
	for _, call := range e.spent {
		if err := e.discardTmp(call); err != nil {
			e.ledger.recordLeftover(fmt.Errorf("temporary directory of %q: %w", call, err))
		}
	}

	if e.after != nil {
		spent, _, err := e.ledger.spentTmp(*e.after)

		// already tried
		spent = slices.DeleteFunc(spent, func(name string) bool {
			run, call := layout.InOperationTmp(name)
			return run == e.run && slices.Contains(e.spent, call)
		})
		e.ledger.recordLeftover(errors.Join(err, e.discardSpent(spent)))
	}
}

// spentTmp returns the names of the temporary directories that should not be there according to op,
// and of the empty ones that belong to no call. A resource of a frame belongs to that frame. Those of
// another run should not be there; a name without a run is not that of one, if op has a run.
func (l *Ledger) spentTmp(op protocol.Operation) (spent, empty []string, err error) {
	names, err := l.fs.Entries(l.OperationTmp(op.ID))
	for _, name := range names {
		path := filepath.Join(l.OperationTmp(op.ID), name)
		concerns := func(f *protocol.Frame) bool { return concerns(f, path) }
		run, call := layout.InOperationTmp(name)
		switch {
		case wire.CheckID(call) != nil || run != "" && wire.CheckID(run) != nil,
			slices.ContainsFunc(op.Stack, concerns):
		case run != "" && run != op.RunID, run == op.RunID && op.TmpIsSpent(call):
			spent = append(spent, name)
		case run != op.RunID, op.Frame(call) == nil:
			if inside, err := l.fs.Entries(path); err == nil && len(inside) == 0 {
				empty = append(empty, name)
			}
		}
	}

	return spent, empty, err
}

// concerns reports whether a resource of the frame is path, inside it, or contains it.
func concerns(f *protocol.Frame, path string) bool {
	return slices.ContainsFunc(f.Resources, func(r string) bool {
		return resource.Within(r, path) || resource.Within(path, r)
	})
}

// discardSpent discards temporary directories, given their names. They are never restored.
func (e *effects) discardSpent(names []string) (err error) {
	for _, name := range names {
		taken := len(e.trash)
		err = errors.Join(err, e.discardIn(e.id, name))
		for i := range e.trash[taken:] {
			e.trash[taken+i].spent = true
		}
	}
	return err
}

// discardTmp needs no journal, because sweeping finds trash directly in tmp/{operation}.
func (e *effects) discardTmp(call string) error {
	if err := wire.CheckID(call); err != nil {
		return err
	}
	return e.discardIn(e.id, layout.TmpName(e.run, call))
}

// discardAll discards the temporary directories of all calls.
func (e *effects) discardAll() error { return e.discardIn(".", e.id) }

func (e *effects) discardIn(dir, base string) error {
	root, name := e.ledger.TmpRoot(), filepath.Join(dir, base)
	if !e.ledger.fs.Exists(filepath.Join(root, name)) {
		return nil
	}
	return e.discardFrom(root, name, func(*trash) error { return nil })
}

// discardFrom discards what is called name below root. It is no error if there is nothing. note is
// called before there is any trash.
func (e *effects) discardFrom(root, name string, note func(*trash) error) error {
	parent, err := resource.Open(e.ledger.fs, root, filepath.Dir(name))
	if err != nil {
		return trust.IgnoreMissing(err)
	}

	t := trash{parent: parent, base: filepath.Base(name), name: layout.NewTrash()}
	if err = note(&t); err == nil {
		err = e.take(t)
	} else {
		parent.Close()
	}
	return trust.IgnoreMissing(err)
}

// take renames what t describes, and keeps its parent open until it is deleted. After an error the
// note stays for Sweep, because over a network the rename may have taken effect.
func (e *effects) take(t trash) error {
	if err := t.parent.Rename(t.base, t.name); err != nil {
		t.parent.Close()
		if errors.Is(err, syscall.EXDEV) {
			err = fmt.Errorf("%w: a directory of a container's image cannot be renamed: use one "+
				"that was made since, or a volume", err)
		}
		return err
	}
	e.trash = append(e.trash, t)
	return nil
}

// committed makes the discarding final, and discards what must go after a commit.
func (e *effects) committed() {
	e.discardSpentTmp()
	for i := range e.trash {
		e.trash[i].spent = true
	}
	e.made, e.spent, e.after = nil, nil, nil
}

// restore undoes, as far as possible, what an uncommitted edit did to resources.
func (e *effects) restore() {
	taken := e.trash
	e.trash = nil
	for _, call := range e.made {
		e.ledger.recordLeftover(e.discardTmp(call))
	}

	for _, t := range slices.Backward(taken) {
		_, err := t.parent.Lstat(t.base)
		if err == nil || t.spent { // it was created again, or no one needs it
			e.trash = append(e.trash, t)
			continue
		}

		if errors.Is(err, fs.ErrNotExist) {
			err = t.parent.Rename(t.name, t.base)
		}
		if err != nil {
			e.ledger.recordLeftover(fmt.Errorf("%q could not be put back, it is %q now: %w", t.base,
				t.name, err))
		}

		e.ledger.recordLeftover(e.ledger.closeTrash(t)) // without a note, nothing deletes it
	}
}

// deleteTrash deletes what the edit discarded. It runs after the lock is released.
func (e *effects) deleteTrash() {
	for _, t := range e.trash {
		err := resource.Purge(t.parent, t.name)
		if err == nil {
			err = e.ledger.closeTrash(t)
		} else {
			t.parent.Close()
		}

		if err != nil {
			e.ledger.recordLeftover(fmt.Errorf("delete %q: %w", t.base, err))
		}
	}
}

// discard takes a resource away from its users. It renames path, which CheckResource must accept,
// to an unknown name in the same directory. The file with that name is deleted after the edit, so a
// new file at path stays. If the edit is not committed, path gets its contents back, unless there
// is a new file. It is no error if path does not exist.
//
// It leaves what was found there when the call began: a file that is as it was then, or a directory.
//
// Outside tmp/, discard returns ErrPermission on a shared ledger without Options.TrustGroup.
func (e *effects) discard(path string, found []protocol.FoundResource) error {
	l := e.ledger
	root, name, err := l.rules().Resource(e.id, path)
	if err != nil {
		return err
	}
	if l.config.Shared && !l.options.TrustGroup && root != l.TmpRoot() {
		return fmt.Errorf("%q: %w: any member of the group could have named it: --trust-group "+
			"deletes it", path, ErrPermission)
	}

	err = e.discardFrom(root, name, func(t *trash) error {
		info, err := t.parent.Lstat(t.base)
		if err != nil {
			return err
		}
		if isAsFound(found, path, info) {
			l.recordKept(path)
			return fs.ErrNotExist
		}
		t.journal, err = l.writeJournal(e.id,
			journal{root, filepath.Join(filepath.Dir(name), t.name)})
		return err
	})
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}
