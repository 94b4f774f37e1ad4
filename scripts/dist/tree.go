package main

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of a package, or a directory: then path ends in a slash. The data of a symbolic
// link is where it leads.
type file struct {
	path string // relative, with slashes
	mode fs.FileMode
	data []byte
}

func (f file) isLink() bool { return f.mode&fs.ModeSymlink != 0 }

type tree []file

// readTree returns the files below dir, sorted. Their modes are 0755 if their owner may execute
// them, and otherwise 0644, whatever the umask was.
func readTree(dir string) (tree, error) {
	var t tree
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}

		f, err := readFile(name, d)
		f.path = filepath.ToSlash(relative)
		t = append(t, f)

		return err
	})

	t.sort()
	return t, err
}

// readFile returns the file or link at name, without a path.
func readFile(name string, d fs.DirEntry) (file, error) {
	info, err := d.Info()
	if err != nil {
		return file{}, err
	}

	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(name)
		return file{mode: fs.ModeSymlink | 0o777, data: []byte(to)}, err
	}

	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}

	data, err := os.ReadFile(name)
	return file{mode: mode, data: data}, err
}

func (t tree) sort() {
	slices.SortFunc(t, func(a, b file) int { return cmp.Compare(a.path, b.path) })
}

// below returns the files of t in the directory dir.
func (t tree) below(dir string) tree {
	moved := slices.Clone(t)
	for i := range moved {
		moved[i].path = dir + "/" + t[i].path
	}
	return moved
}

// without returns the files of t but those at, or below, one of the paths.
func (t tree) without(paths ...string) tree {
	return slices.DeleteFunc(slices.Clone(t), func(f file) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return f.path == p || strings.HasPrefix(f.path, p+"/")
		})
	})
}

// ownDirectories returns the directories of t that no other package has, sorted: those with an
// element dpl. With rpm a package says which directories it owns, and removes only these.
func (t tree) ownDirectories() []string {
	var own []string
	for _, f := range t {
		for dir := path.Dir(f.path); strings.Contains("/"+dir+"/", "/dpl/"); dir = path.Dir(dir) {
			if !slices.Contains(own, dir) {
				own = append(own, dir)
			}
		}
	}

	slices.Sort(own)
	return own
}
