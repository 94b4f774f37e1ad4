package fileops

import (
	"fmt"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

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

// purge deletes a file, or a directory with its contents, without entering another mount. Another
// process may be deleting it at the same time. purge continues after an error and returns the first
// one.
func purge(parent disk.Root, name string) error {
	info, err := parent.Stat()
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	return trust.IgnoreMissing(new(purger).purge(parent, info, name, nil))
}

// maxOpen is how many nested directories are open at once while they are deleted.
const maxOpen = 32

// A purger deletes a tree. Parts that are too deep are renamed to its top and deleted last, so a
// tree may be deeper than the number of files that a process may have open.
type purger struct {
	top  disk.Root // nil: not open yet
	deep []string  // names in top
}

// purge deletes name in parent. above are the names that lead from top to parent. It returns
// fs.ErrNotExist if another process was faster.
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
	err = trust.IgnoreMissing(err)
	isTop := p.top == nil
	if isTop {
		p.top = dir
	} else {
		above = append(above, name)
	}

	for len(names) > 0 {
		for _, entry := range names {
			if entryErr := trust.IgnoreMissing(p.purge(dir, info, entry, above)); err == nil {
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
	name := layout.NewTrash()
	if err := p.top.Rename(filepath.Join(path...), name); err != nil {
		return err
	}
	p.deep = append(p.deep, name)
	return nil
}

// purgeAt deletes a piece of trash below a root.
func (l *Ledger) purgeAt(root, name string) error {
	parent, err := l.descend(root, filepath.Dir(name))
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	defer parent.Close()
	if err := purge(parent, filepath.Base(name)); err != nil {
		return fmt.Errorf("delete %s: %w", filepath.Join(root, name), err)
	}
	return nil
}
