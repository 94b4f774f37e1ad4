// Package resource decides which files and directories a ledger may delete, and deletes them
// without leaving the place where it was allowed to.
package resource

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

var (
	// ErrResource means that this ledger may not delete the path.
	ErrResource = errors.New("not a resource of this ledger")

	// ErrRoot means that a ledger may not delete below the directory.
	ErrRoot = errors.New("not fit for a resource root")
)

// Rules say what a ledger may delete: what is inside its own tmp/ or inside one of the roots.
type Rules struct {
	layout.Paths
	FS    disk.FS
	Home  string   // of the user: no resource may be or contain it; "" if there is none
	Roots []string // clean absolute paths
}

// Check returns ErrResource unless a call of the operation op may name path as a resource. path
// must be clean, absolute, strictly inside the operation's own directory in tmp/ or inside one of
// the roots, and on the same mount. Below a root it must not be inside the ledger, and must not be
// or contain the ledger, another root or the home directory. No existing directory between the root
// and path may be a symbolic link.
func (r Rules) Check(op, path string) error {
	root, name, err := r.Resource(op, path)
	if err != nil {
		return err
	}

	parent, err := Open(r.FS, root, filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	return parent.Close()
}

// Resource returns the root that contains path, and the rest of path, if a call of the operation op
// may name it. Open tells the rest of what Check does.
func (r Rules) Resource(op, path string) (root, name string, err error) {
	root, name, err = r.Locate(path)
	switch {
	case err != nil:
	case root != r.TmpRoot():
		err = r.spare(root, name)
	case !Within(filepath.Dir(path), r.OperationTmp(op)):
		err = fmt.Errorf("%q: %w: inside tmp/ a call may name only what is inside %s", path,
			ErrResource, r.OperationTmp(op))
	}

	return root, name, err
}

// Locate returns the root that contains path, and the rest of path.
func (r Rules) Locate(path string) (root, name string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", "", fmt.Errorf("%q: %w: it is not a clean absolute path", path, ErrResource)
	}

	for _, candidate := range append([]string{r.TmpRoot()}, r.Roots...) {
		if rest, ok := strings.CutPrefix(path, candidate+string(filepath.Separator)); ok &&
			len(candidate) > len(root) {
			root, name = candidate, rest
		}
	}

	if root == "" {
		return "", "", fmt.Errorf("%q: %w: it is neither inside %s nor inside a resource root",
			path, ErrResource, r.TmpRoot())
	}
	return root, name, nil
}

// spare returns an error for a path, name below root, that is inside the ledger, or that is or
// contains the ledger, another root or the home directory. It resolves symbolic links.
func (r Rules) spare(root, name string) error {
	parent, err := r.real(filepath.Dir(root))
	if err != nil {
		return err
	}

	path := filepath.Join(parent, filepath.Base(root), name)
	ledger, err := r.real(r.Dir())
	if err == nil && Within(path, ledger) {
		err = fmt.Errorf("%q: %w: it is part of the ledger", path, ErrResource)
	}
	if err != nil {
		return err
	}
	return r.excludes(path, append([]string{r.Dir(), r.Home}, r.Roots...), ErrResource)
}

// excludes returns refusal if path, which has no symbolic links, is or contains one of dirs. It
// ignores empty ones.
func (r Rules) excludes(path string, dirs []string, refusal error) error {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}

		resolved, err := r.real(dir)
		if err != nil {
			return err
		}
		if Within(resolved, path) {
			return fmt.Errorf("%q: %w: %s", path, refusal, r.relation(resolved == path, dir))
		}
	}

	return nil
}

// relation describes the relation to dir of a path that must not be deleted.
func (r Rules) relation(same bool, dir string) string {
	verb := "it contains"
	if same {
		verb = "it is"
	}

	switch dir {
	case r.Dir():
		return verb + " the ledger"
	case r.Home:
		return verb + " your home directory"
	}

	return fmt.Sprintf("%s the resource root %q", verb, dir)
}

// real returns path with symbolic links resolved, as far as it exists.
func (r Rules) real(path string) (string, error) {
	resolved, err := r.FS.Resolve(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		resolved, err = r.real(parent)
		return filepath.Join(resolved, filepath.Base(path)), err
	}
	return resolved, err
}

// CheckRoots returns ErrRoot if one of the roots is not fit for that: it is the root directory, is
// or contains the ledger or the home directory, or is inside the ledger.
func (r Rules) CheckRoots() error {
	ledger, err := r.real(r.Dir())
	for _, root := range r.Roots {
		var path string
		if err == nil {
			path, err = r.real(root)
		}

		switch {
		case err != nil:
			return err
		case path == filepath.Dir(path):
			return fmt.Errorf("%q: %w: it is the root directory", root, ErrRoot)
		case path != ledger && Within(path, ledger):
			return fmt.Errorf("%q: %w: it is part of the ledger", root, ErrRoot)
		}

		err = r.excludes(path, []string{r.Dir(), r.Home}, ErrRoot)
	}

	return err
}

// Within reports whether path is dir or inside it.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}
