package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// CheckResource returns ErrResource unless path is one that Discard would delete: clean, absolute, strictly inside the
// ledger's tmp/ or one of its resource roots, on the same mount, neither inside nor around the rest of the ledger. As far
// as it exists now, no directory between the root and path is a symbolic link.
func (l *Ledger) CheckResource(path string) error {
	root, name, err := l.locate(path)
	if err != nil {
		return err
	}
	parent, err := l.descend(root, filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return parent.Close()
}

// locate returns the root that path is inside of, and the rest of path.
func (l *Ledger) locate(path string) (root, name string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", "", fmt.Errorf("%q: %w: it is not a clean absolute path", path, ErrResource)
	}
	for _, candidate := range append([]string{l.tmp()}, l.config.ResourceRoots...) {
		if rest, ok := strings.CutPrefix(path, candidate+string(filepath.Separator)); ok && len(candidate) > len(root) {
			root, name = candidate, rest
		}
	}
	if root == "" {
		return "", "", fmt.Errorf("%q: %w: it is neither inside %s nor inside a resource root", path, ErrResource, l.tmp())
	}
	if root != l.tmp() {
		err = l.apart(root, name)
	}
	return root, name, err
}

// apart refuses a path that is the ledger, inside it or around it, also where a symbolic link leads to either of them.
func (l *Ledger) apart(root, name string) error {
	parent, err := l.fs.Resolve(filepath.Dir(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ledger, err := l.fs.Resolve(l.dir)
	if err != nil {
		return err
	}
	path := filepath.Join(parent, filepath.Base(root), name)
	if within(path, ledger) || within(ledger, path) {
		return fmt.Errorf("%q: %w: it is part of the ledger or contains it", path, ErrResource)
	}
	return nil
}

// within reports whether path is dir or inside it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// descend opens the directory name below root, "." for root itself. Neither root nor a directory below it may be a
// symbolic link or on another mount. It returns fs.ErrNotExist if one is missing.
func (l *Ledger) descend(root, name string) (Root, error) {
	outside, err := l.fs.OpenRoot(filepath.Dir(root))
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

// enter opens the directory name in dir if it is one, and not a symbolic link to one.
func enter(dir Root, name string) (Root, Info, error) {
	named, err := dir.Lstat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if !named.Mode.IsDir() {
		return nil, Info{}, fmt.Errorf("%w: %q is not a directory but a %s", ErrResource, name, kindOf(named.Mode))
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, Info{}, err
	}
	info, err := next.Stat()
	if err == nil && info.ID != named.ID && info.ID.Device == named.ID.Device {
		err = fmt.Errorf("%w: %q was replaced just now", ErrResource, name)
	}
	if err != nil {
		next.Close()
		return nil, Info{}, err
	}
	return next, info, nil
}

func kindOf(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "file"
}

func sameMount(a, b Info) bool { return a.ID.Device == b.ID.Device && a.Mount == b.Mount }

// Discard takes a resource away from whoever used it: it renames path, which has to be as CheckResource wants it, to a
// name in the same directory that nobody knows. What has that name is deleted after the edit is over, so what somebody
// makes anew at path stays. If the edit is not committed, path gets its contents back unless somebody did. A path that
// does not exist is no error.
//
// Outside tmp/, a shared ledger needs Options.TrustGroup: ErrPermission.
func (tx *Tx) Discard(path string) error {
	l := tx.ledger
	root, name, err := l.locate(path)
	if err != nil {
		return err
	}
	if l.config.Shared && !l.options.TrustGroup && root != l.tmp() {
		return fmt.Errorf("%q: %w: any member of the group could have named it: --trust-group deletes it", path, ErrPermission)
	}
	parent, err := l.descend(root, filepath.Dir(name))
	if err == nil {
		err = tx.discardFrom(parent, root, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return nil
}

// discardFrom writes down where the trash will be before there is any.
func (tx *Tx) discardFrom(parent Root, root, name string) error {
	base := filepath.Base(name)
	t := trash{parent: parent, base: base, name: newTrashName()}
	_, err := parent.Lstat(base)
	if err == nil {
		t.journal, err = tx.ledger.writeJournal(tx.id, journal{root, filepath.Join(filepath.Dir(name), t.name)})
	}
	if err == nil {
		err = tx.take(t)
	} else {
		parent.Close()
	}
	return err
}
