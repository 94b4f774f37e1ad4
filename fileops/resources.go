package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// CheckResource returns ErrResource unless discard would delete path for a call of the operation
// op. path must be clean, absolute, strictly inside the operation's own directory in tmp/ or inside
// one of the resource roots, and on the same mount. Below a root it must not be inside the ledger,
// and must not be or contain the ledger, another root or the home directory. No existing directory
// between the root and path may be a symbolic link.
func (l *Ledger) CheckResource(op, path string) error {
	root, name, err := l.resource(op, path)
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

// resource returns the root that contains path, and the rest of path, if a call of the operation op
// may name it.
func (l *Ledger) resource(op, path string) (root, name string, err error) {
	root, name, err = l.locate(path)
	switch {
	case err != nil:
	case root != l.TmpRoot():
		err = l.spare(root, name)
	case !within(filepath.Dir(path), l.OperationTmp(op)):
		err = fmt.Errorf("%q: %w: inside tmp/ a call may name only what is inside %s", path,
			ErrResource, l.OperationTmp(op))
	}

	return root, name, err
}

// locate returns the root that contains path, and the rest of path.
func (l *Ledger) locate(path string) (root, name string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", "", fmt.Errorf("%q: %w: it is not a clean absolute path", path, ErrResource)
	}

	for _, candidate := range append([]string{l.TmpRoot()}, l.config.ResourceRoots...) {
		if rest, ok := strings.CutPrefix(path, candidate+string(filepath.Separator)); ok &&
			len(candidate) > len(root) {
			root, name = candidate, rest
		}
	}

	if root == "" {
		return "", "", fmt.Errorf("%q: %w: it is neither inside %s nor inside a resource root",
			path, ErrResource, l.TmpRoot())
	}
	return root, name, nil
}

// spare returns an error for a path, name below root, that is inside the ledger, or that is or
// contains the ledger, another root or the home directory. It resolves symbolic links.
func (l *Ledger) spare(root, name string) error {
	parent, err := l.real(filepath.Dir(root))
	if err != nil {
		return err
	}

	path := filepath.Join(parent, filepath.Base(root), name)
	ledger, err := l.real(l.Dir())
	if err == nil && within(path, ledger) {
		err = fmt.Errorf("%q: %w: it is part of the ledger", path, ErrResource)
	}
	if err != nil {
		return err
	}
	return l.excludes(path, append([]string{l.Dir(), l.options.Home}, l.config.ResourceRoots...),
		ErrResource)
}

// excludes returns refusal if path, which has no symbolic links, is or contains one of dirs. It
// ignores empty ones.
func (l *Ledger) excludes(path string, dirs []string, refusal error) error {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}

		resolved, err := l.real(dir)
		if err != nil {
			return err
		}
		if within(resolved, path) {
			return fmt.Errorf("%q: %w: %s", path, refusal, l.relation(resolved == path, dir))
		}
	}

	return nil
}

// relation describes the relation to dir of a path that must not be deleted.
func (l *Ledger) relation(same bool, dir string) string {
	verb := "it contains"
	if same {
		verb = "it is"
	}

	switch dir {
	case l.Dir():
		return verb + " the ledger"
	case l.options.Home:
		return verb + " your home directory"
	}

	return fmt.Sprintf("%s the resource root %q", verb, dir)
}

// real returns path with symbolic links resolved, as far as it exists.
func (l *Ledger) real(path string) (string, error) {
	resolved, err := l.fs.Resolve(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		resolved, err = l.real(parent)
		return filepath.Join(resolved, filepath.Base(path)), err
	}
	return resolved, err
}

// CheckRoots returns ErrRoot if one of roots is not fit to be a resource root of a ledger in dir:
// it is the root directory, is or contains the ledger or the home directory, or is inside the
// ledger. roots must be clean absolute paths.
func CheckRoots(dir string, roots []string, o Options) error {
	l, err := newLedger(dir, o)
	if err != nil {
		return err
	}

	ledger, err := l.real(l.Dir())
	for _, root := range roots {
		var path string
		if err == nil {
			path, err = l.real(root)
		}

		switch {
		case err != nil:
			return err
		case path == filepath.Dir(path):
			return fmt.Errorf("%q: %w: it is the root directory", root, ErrRoot)
		case path != ledger && within(path, ledger):
			return fmt.Errorf("%q: %w: it is part of the ledger", root, ErrRoot)
		}

		err = l.excludes(path, []string{l.Dir(), l.options.Home}, ErrRoot)
	}

	return err
}

// discard takes a resource away from its users. It renames path, which CheckResource must accept,
// to an unknown name in the same directory. The file with that name is deleted after the edit, so a
// new file at path stays. If the edit is not committed, path gets its contents back, unless there
// is a new file. It is no error if path does not exist.
//
// Outside tmp/, discard returns ErrPermission on a shared ledger without Options.TrustGroup.
func (e *effects) discard(path string) error {
	l := e.ledger
	root, name, err := l.resource(e.id, path)
	if err != nil {
		return err
	}
	if l.config.Shared && !l.options.TrustGroup && root != l.TmpRoot() {
		return fmt.Errorf("%q: %w: any member of the group could have named it: --trust-group "+
			"deletes it", path, ErrPermission)
	}

	parent, err := l.descend(root, filepath.Dir(name))
	if err == nil {
		err = e.discardFrom(parent, root, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}

	return nil
}

// discardFrom records where the trash will be before there is any.
func (e *effects) discardFrom(parent disk.Root, root, name string) error {
	base := filepath.Base(name)
	t := trash{parent: parent, base: base, name: layout.NewTrash()}
	_, err := parent.Lstat(base)
	if err == nil {
		t.journal, err = e.ledger.writeJournal(e.id,
			journal{root, filepath.Join(filepath.Dir(name), t.name)})
	}

	if err == nil {
		err = e.take(t)
	} else {
		parent.Close()
	}

	return err
}
