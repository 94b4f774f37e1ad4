package fileops

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
)

// descend opens the directory name below root; "." is root itself. Neither root nor a directory
// below it may be a symbolic link or on another mount. It returns fs.ErrNotExist if one is missing.
func (l *Ledger) descend(root, name string) (disk.Root, error) {
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

// within reports whether path is dir or inside it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}
