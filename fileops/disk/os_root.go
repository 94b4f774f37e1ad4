package disk

import (
	"os"
)

// osRoot is an os.Root that also knows its mount.
type osRoot struct{ root *os.Root }

func (OS) OpenRoot(path string) (Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return osRoot{root}, nil
}

func (r osRoot) OpenRoot(name string) (Root, error) {
	root, err := r.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return osRoot{root}, nil
}

func (r osRoot) Lstat(name string) (Info, error) {
	info, err := r.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func (r osRoot) Rename(old, new string) error { return r.root.Rename(old, new) }
func (r osRoot) Remove(name string) error     { return r.root.Remove(name) }
func (r osRoot) Close() error                 { return r.root.Close() }

func (r osRoot) Stat() (Info, error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return Info{}, err
	}
	defer dir.Close()

	info, err := dir.Stat()
	if err != nil {
		return Info{}, err
	}

	result := infoFrom(info)
	result.Mount = mountOf(dir)

	return result, nil
}

func (r osRoot) ReadDir() ([]string, error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}
