package resource

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// Open opens the directory name below root; "." is root itself. It returns ErrResource if root or a
// directory below it is a symbolic link or on another mount, and fs.ErrNotExist if one is missing.
func Open(files disk.FS, root, name string) (disk.Root, error) {
	outside, err := files.OpenRoot(filepath.Dir(root))
	if err != nil {
		return nil, err
	}

	dir, info, err := enter(outside, filepath.Base(root))
	outside.Close()
	if err != nil {
		return nil, err
	}
	if name == "." {
		return dir, nil
	}

	for _, element := range strings.Split(name, string(filepath.Separator)) {
		next, nextInfo, err := enter(dir, element)
		dir.Close()
		if err == nil && !sameMount(info, nextInfo) {
			next.Close()
			err = fmt.Errorf("%w: %q is on another mount", ErrResource, element)
		}

		if err != nil {
			return nil, err
		}

		dir = next
	}

	return dir, nil
}

// enter opens the directory name in dir. It returns an error for a symbolic link.
func enter(dir disk.Root, name string) (disk.Root, disk.Info, error) {
	named, err := dir.Lstat(name)
	if err != nil {
		return nil, disk.Info{}, err
	}
	if !named.Mode.IsDir() {
		return nil, disk.Info{}, fmt.Errorf("%w: %q is not a directory but a %s", ErrResource, name,
			kindOf(named.Mode))
	}

	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, disk.Info{}, err
	}

	info, err := next.Stat()
	if err == nil && info.ID != named.ID && info.ID.Device == named.ID.Device {
		err = fmt.Errorf("%w: %q was replaced just now", ErrResource, name)
	}

	if err != nil {
		next.Close()
		return nil, disk.Info{}, err
	}

	return next, info, nil
}

func kindOf(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "file"
}

func sameMount(a, b disk.Info) bool { return a.ID.Device == b.ID.Device && a.Mount == b.Mount }

// Purge deletes a file, or a directory with its contents, without entering another mount. Another
// process may be deleting it at the same time. Purge continues after an error and returns the first
// one.
func Purge(parent disk.Root, name string) error {
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

	// A directory that its owner may not change keeps what is in it. Another user's cannot be changed.
	const own = 0o700
	if named.Mode&own != own {
		parent.Chmod(name, named.Mode|own)
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

// Delete is Purge for what is called name below root.
func Delete(files disk.FS, root, name string) error {
	parent, err := Open(files, root, filepath.Dir(name))
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	defer parent.Close()
	if err := Purge(parent, filepath.Base(name)); err != nil {
		return fmt.Errorf("delete %s: %w", filepath.Join(root, name), err)
	}
	return nil
}
