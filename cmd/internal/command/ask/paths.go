package ask

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dpl-project/dpl/fileops"
)

// As on Linux, a path may have so many symbolic links and bytes.
const (
	mostLinks = 40
	mostPath  = 4096
)

// mostLooks is how many names are looked up for one request. A hook that takes too long is no hook.
const mostLooks = 20000

// inside returns a function that reports whether a path lies in the directory in which dpl-ask
// runs, as the system resolves the path now (spec §48.4). A path is seen from dir, which is seen
// from where dpl-ask runs. What does not exist lies where it would be made. Nothing is known to lie
// there on Windows.
func inside(dir string) func(path string) bool {
	top, left := "", mostLooks
	return func(path string) bool {
		if runtime.GOOS == "windows" || len(path) > mostPath {
			return false
		}
		if top == "" {
			var err error
			if top, err = workingDir(); err != nil {
				return false
			}
		}

		at := place{path: top, exists: true, left: &left}
		return at.walk(dir) == nil && at.under(top) && at.walk(path) == nil && at.under(top)
	}
}

// workingDir returns the working directory as an absolute path without links.
func workingDir() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(wd)
}

// A place is an absolute path without links, and whether anything is there.
type place struct {
	path   string
	exists bool
	left   *int // how many names may still be looked up
	way    []found
}

// A found is what was at the path of a place, whose last name may be that of a link.
type found struct {
	path string
	info os.FileInfo
}

func (at place) under(top string) bool {
	return at.path == top || strings.HasPrefix(at.path, strings.TrimSuffix(top, "/")+"/")
}

var (
	errWay  = errors.New("it leads nowhere, or has a .. behind a link or behind what does not exist")
	errLong = errors.New("too many names and links are on the way")
)

// walk goes to path, seen from at, as the system does, and appends what it finds to the way. It
// returns an error if the system could not, or if a .. is behind a link: a shell takes that for
// something else than the system. It returns fileops.ErrPermission at a link that leads other
// processes to another place.
func (at *place) walk(path string) error {
	type name struct {
		text   string
		linked bool // a link led here
	}
	var names []name
	push := func(path string, linked bool) {
		all := strings.Split(path, "/")
		for i := len(all) - 1; i >= 0; i-- {
			names = append(names, name{all[i], linked})
		}
		if strings.HasPrefix(path, "/") {
			at.path, at.exists = "/", true
		}
	}

	links := 0
	for push(path, false); len(names) > 0; {
		next := names[len(names)-1]
		names = names[:len(names)-1]
		switch {
		case next.text == "" || next.text == ".":
			continue
		case next.text == "..":
			if !at.exists || !next.linked && links > 0 {
				return errWay
			}
			at.path = filepath.Dir(at.path)
			continue
		}

		at.path = strings.TrimSuffix(at.path, "/") + "/" + next.text
		if !at.exists {
			continue
		}
		if *at.left--; *at.left < 0 {
			return errLong
		}
		info, err := os.Lstat(at.path)
		if os.IsNotExist(err) {
			at.exists = false
			continue
		}
		if err != nil {
			return err
		}
		f := found{at.path, info}
		at.way = append(at.way, f)
		switch {
		case info.Mode().IsRegular() && len(names) > 0:
			return errWay
		case info.Mode()&os.ModeSymlink != 0 && f.shifts():
			return fmt.Errorf("%w: %s leads each process to another place", fileops.ErrPermission, at.path)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(at.path)
			if links++; err != nil || target == "" || links > mostLinks {
				return errLong
			}
			at.path = filepath.Dir(at.path)
			push(target, true)
		}
	}
	return nil
}
