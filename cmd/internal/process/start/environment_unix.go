//go:build unix

package start

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
)

// mostEnvironment is the greatest size of an environment file: a kernel takes hardly more.
const mostEnvironment = 1 << 20

// mostLinks is how many symbolic links may lead to an environment file.
const mostLinks = 40

var errIrregular = errors.New("it is not a regular file")

// Environment returns env together with the variables of the environment file at path, an absolute
// path (spec/groups.md §11.6). It returns env for the path "".
//
// Its errors name the path and perhaps a line, and never what the file contains. The Class of one
// is Tempfail if the file is missing or cannot be read, and otherwise Terminal.
func Environment(env []string, path string) ([]string, error) {
	if path == "" {
		return env, nil
	}

	text, err := readTrusted(path)
	var file []group.Variable
	if err == nil {
		if file, err = group.ParseEnvironment(text); err != nil {
			err = misfit{err}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("environment file %q: %w", path, err)
	}
	return group.WithFile(env, file), nil
}

// readTrusted returns the content of the regular file at path if no other user except root could
// have written it: it, its directories and the symbolic links on the way belong to this user or
// root.
func readTrusted(path string) (string, error) {
	path, err := resolveTrusted(path)
	if err != nil {
		return "", err
	}

	// A FIFO without a writer must not block the start.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ENXIO) {
		return "", misfit{errIrregular} // a socket
	}
	if err != nil {
		return "", unreadable(err)
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return "", unreadable(err)
	}
	if err := checkFile(path, info); err != nil {
		return "", misfit{err}
	}

	text, err := io.ReadAll(io.LimitReader(f, mostEnvironment+1))
	if err != nil {
		return "", unreadable(err)
	}
	if len(text) > mostEnvironment {
		return "", misfit{fmt.Errorf("it has more than %d MiB", mostEnvironment>>20)}
	}
	return string(text), nil
}

// unreadable returns the error for a file that is missing or cannot be read: perhaps it can later,
// for example once something is mounted.
func unreadable(err error) error {
	if of, ok := err.(*fs.PathError); ok {
		err = of.Err
	}
	return shortage{err}
}

// checkFile returns an error if another user could have written the file at path.
func checkFile(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return errIrregular
	case info.Mode()&0o022 != 0:
		return fmt.Errorf("others may write to it (mode %04o): chmod go-w %s", info.Mode().Perm(),
			path)
	}
	return checkOwner(path, info)
}

// checkDir returns an error if every user could replace what is in the directory at path.
func checkDir(path string, info fs.FileInfo) error {
	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("others may write to its directory (mode %04o): chmod o-w %s",
			info.Mode().Perm(), path)
	}
	return checkOwner(path, info)
}

// checkOwner returns an error unless what is at path belongs to this user or root.
func checkOwner(path string, info fs.FileInfo) error {
	uid := int(info.Sys().(*syscall.Stat_t).Uid)
	if uid == 0 || uid == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%s belongs to %s: it must belong to %s or root", path, trust.UserName(uid),
		trust.UserName(os.Geteuid()))
}

// resolveTrusted returns path without symbolic links, after checking each directory and each link
// on the way.
func resolveTrusted(path string) (string, error) {
	resolved, rest, links := "/", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			resolved = filepath.Dir(resolved)
			continue
		}

		dir, err := os.Lstat(resolved)
		if err != nil {
			return "", unreadable(err)
		}
		if err := checkDir(resolved, dir); err != nil {
			return "", misfit{err}
		}

		next := filepath.Join(resolved, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", unreadable(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			resolved = next
			continue
		}

		if err := checkOwner(next, info); err != nil {
			return "", misfit{err}
		}
		if links++; links > mostLinks {
			return "", unreadable(syscall.ELOOP)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", unreadable(err)
		}
		if filepath.IsAbs(target) {
			resolved = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return resolved, nil
}
