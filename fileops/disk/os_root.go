package disk

import (
	"io/fs"
	"os"
)

// osRoot is an os.Root that also knows its mount.
type osRoot struct{ root *os.Root }

func (OS) OpenRoot(path string) (Root, error) { return rootOr(os.OpenRoot(path)) }

func rootOr(root *os.Root, err error) (Root, error) {
	if err != nil {
		return nil, err
	}
	return osRoot{root}, nil
}

func (r osRoot) OpenRoot(name string) (Root, error) { return rootOr(r.root.OpenRoot(name)) }
func (r osRoot) Lstat(name string) (Info, error)    { return infoOr(r.root.Lstat(name)) }

func (r osRoot) Rename(old, new string) error              { return r.root.Rename(old, new) }
func (r osRoot) Remove(name string) error                  { return r.root.Remove(name) }
func (r osRoot) Chmod(name string, mode fs.FileMode) error { return r.root.Chmod(name, mode) }
func (r osRoot) Close() error                              { return r.root.Close() }

func (r osRoot) Stat() (Info, error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return Info{}, err
	}
	defer dir.Close()

	info, err := infoOr(dir.Stat())
	if err == nil {
		info.Mount = mountOf(dir)
	}
	return info, err
}

func (r osRoot) ReadDir() ([]string, error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}
