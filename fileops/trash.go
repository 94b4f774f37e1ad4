package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// trash is something renamed to a name nobody knows, waiting to be deleted.
type trash struct {
	parent  disk.Root
	base    string // its name before
	name    string // its name in parent
	journal string // path of the note that says where it is, "" if it is where Sweep looks anyway
	spent   bool   // it is not put back, whatever becomes of the edit
}

// effects are what an edit does beside its files: directories that it makes, and what it takes away.
type effects struct {
	ledger *Ledger
	id     string              // of the operation
	trash  []trash             // renamed already
	made   []string            // calls whose temporary directories makeTmp made
	spent  []string            // calls whose temporary directories go after the commit
	after  *protocol.Operation // what is committed, if spent temporary directories go with it
}

// take renames what t describes, and keeps its parent open until it is deleted. After an error the note stays for Sweep:
// over a network the rename may have been done all the same.
func (e *effects) take(t trash) error {
	if err := t.parent.Rename(t.base, t.name); err != nil {
		t.parent.Close()
		return err
	}
	e.trash = append(e.trash, t)
	return nil
}

// committed has what is discarded stay so, and discards what goes after a commit.
func (e *effects) committed() {
	e.discardSpentTmp()
	for i := range e.trash {
		e.trash[i].spent = true
	}
	e.made, e.spent, e.after = nil, nil, nil
}

// restore undoes, as far as that is possible, what an edit that is not committed did to resources.
func (e *effects) restore() {
	taken := e.trash
	e.trash = nil
	for _, call := range e.made {
		e.ledger.recordLeftover(e.discardTmp(call))
	}
	for _, t := range slices.Backward(taken) {
		_, err := t.parent.Lstat(t.base)
		if err == nil || t.spent { // somebody has made it anew, or nobody needs it
			e.trash = append(e.trash, t)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = t.parent.Rename(t.name, t.base)
		}
		if err != nil {
			e.ledger.recordLeftover(fmt.Errorf("%q could not be put back, it is %q now: %w", t.base, t.name, err))
		}
		e.ledger.recordLeftover(e.ledger.closeTrash(t)) // without a note nobody deletes it
	}
}

// deleteTrash deletes what the edit took. It runs after the lock is released.
func (e *effects) deleteTrash() {
	for _, t := range e.trash {
		err := purge(t.parent, t.name)
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

func (l *Ledger) closeTrash(t trash) error {
	t.parent.Close()
	if t.journal == "" {
		return nil
	}
	return l.removeIfThere(t.journal)
}

// purge deletes a file or a directory with all that is in it, but enters no other mount. Somebody else may be deleting
// the same. It goes on after an error and returns the first.
func purge(parent disk.Root, name string) error {
	info, err := parent.Stat()
	if err != nil {
		return ignoreMissing(err)
	}
	return ignoreMissing(new(purger).purge(parent, info, name, nil))
}

// maxOpen is how many directories below each other are open at a time while they are deleted.
const maxOpen = 32

// A purger deletes a tree. What is too deep in it is renamed to its top, and deleted last: so a tree may be deeper than a
// process may have files open.
type purger struct {
	top  disk.Root // nil: not open yet
	deep []string  // names in top
}

// purge deletes name in parent, to which the names above lead from top. It returns fs.ErrNotExist if somebody else was faster.
func (p *purger) purge(parent disk.Root, parentInfo disk.Info, name string, above []string) error {
	err := parent.Remove(name)
	if err == nil {
		return nil
	}
	named, statErr := parent.Lstat(name)
	if statErr != nil {
		return statErr
	}
	if !named.Mode.IsDir() {
		return err
	}
	if len(above) == maxOpen {
		return p.postpone(append(above, name))
	}
	dir, info, err := enter(parent, name)
	if err != nil {
		return err
	}
	if !sameMount(info, parentInfo) {
		dir.Close()
		return fmt.Errorf("%q is a mount point: unmount it", name)
	}

	names, err := dir.ReadDir()
	err = ignoreMissing(err)
	isTop := p.top == nil
	if isTop {
		p.top = dir
	} else {
		above = append(above, name)
	}
	for len(names) > 0 {
		for _, entry := range names {
			if entryErr := ignoreMissing(p.purge(dir, info, entry, above)); err == nil {
				err = entryErr
			}
		}
		if names = nil; isTop {
			names, p.deep = p.deep, nil
		}
	}
	dir.Close()

	if err != nil {
		return err
	}
	return parent.Remove(name)
}

// postpone renames what path leads to from top.
func (p *purger) postpone(path []string) error {
	name := newTrashName()
	if err := p.top.Rename(filepath.Join(path...), name); err != nil {
		return err
	}
	p.deep = append(p.deep, name)
	return nil
}
