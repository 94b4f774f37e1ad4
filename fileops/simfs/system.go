package simfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
)

var _ disk.FS = (*Process)(nil)

// Within implements disk.FS. There are no symbolic links here, and everything belongs to root.
func (p *Process) Within(string, func(string, disk.Info) error) disk.FS { return p }

// Refresh implements disk.FS. Every path is looked up at each call, so it does nothing.
func (p *Process) Refresh() {}

// Lock implements disk.FS.
func (p *Process) Lock(path string, create fs.FileMode,
	expired <-chan struct{}) (disk.Lock, error) {
	var l *lock
	err := p.on("lock", path, func(at place) error {
		n := at.node
		if n == nil && create == 0 {
			return fs.ErrNotExist
		}

		if n == nil {
			n = p.Disk.node(create)
			p.Disk.change(set{at.dir, entry{at.base, n}})
		}

		for n.holder != nil && !p.NoLock {
			if expired == nil {
				return disk.ErrBusy
			}
			waited := p.Wait(n)
			p.Die()
			if !waited {
				return disk.ErrBusy
			}
		}

		l = &lock{p, n}
		n.holder = l
		p.held = append(p.held, l)

		return nil
	})

	if err != nil {
		if l != nil {
			l.release()
		}
		return nil, err
	}

	return l, nil
}

// Stat implements disk.Lock.
func (l *lock) Stat() (disk.Info, error) {
	err := l.process.do("stat lock", func() {})
	return l.node.info(), err
}

// Unlock implements disk.Lock.
func (l *lock) Unlock() error {
	err := l.process.do("unlock", func() {})
	l.release()
	return err
}

// found makes the call name on what is at path.
func (p *Process) found(name, path string, do func(n *Node)) error {
	return p.on(name, path, func(at place) error {
		if at.node == nil {
			return fs.ErrNotExist
		}
		do(at.node)
		return nil
	})
}

// add makes the call name, which gives path to a new node.
func (p *Process) add(name, path string, mode fs.FileMode) (n *Node, err error) {
	err = p.on(name, path, func(at place) error {
		if at.node != nil {
			return fs.ErrExist
		}
		n = p.Disk.node(mode)
		p.Disk.change(set{at.dir, entry{at.base, n}})
		return nil
	})
	return n, err
}

// open returns n as an open file, unless err is not nil.
func (p *Process) open(n *Node, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	return &file{process: p, node: n}, nil
}

func (p *Process) opened(name, path string) (disk.File, error) {
	var node *Node
	err := p.found(name, path, func(n *Node) { node = n })
	return p.open(node, err)
}

// Open implements disk.FS.
func (p *Process) Open(path string) (disk.File, error) { return p.opened("open", path) }

// OpenAppend implements disk.FS.
func (p *Process) OpenAppend(path string) (disk.File, error) {
	return p.opened("open append", path)
}

// Overwrite writes data over the beginning of the file at path, as pwrite does. It writes half of
// it if it is interrupted or fails. The room is there, so a full disk does not matter.
func (p *Process) Overwrite(path string, data []byte) error {
	f, err := p.opened("open", path)
	if err != nil {
		return err
	}
	n := f.(*file).node

	late, err := p.call("pwrite", path)
	written := len(data)
	if err != nil {
		written /= 2
	}
	n.data = slices.Concat(data[:written], n.data[min(written, len(n.data)):])
	n.tried, n.lost = 0, nil
	p.Disk.touch(n)
	p.end(err)
	return errors.Join(err, late)
}

// Create implements disk.FS.
func (p *Process) Create(path string, mode fs.FileMode) (disk.File, error) {
	return p.open(p.add("create", path, mode))
}

// CreateUnnamed implements disk.FS.
func (p *Process) CreateUnnamed(dir string, mode fs.FileMode) (disk.File, error) {
	if p.NoUnnamed {
		return nil, errors.ErrUnsupported
	}
	var n *Node
	err := p.found("create unnamed", dir, func(*Node) { n = p.Disk.node(mode) })
	return p.open(n, err)
}

// OpenHeld implements disk.FS. No process here has a log open.
func (p *Process) OpenHeld(int, func(disk.FileID) bool) (disk.Held, error) {
	return nil, fs.ErrNotExist
}

// MountPoint implements disk.FS. There are no mounts here.
func (p *Process) MountPoint(string) (bool, error) { return false, nil }

// Lstat implements disk.FS.
func (p *Process) Lstat(path string) (info disk.Info, err error) {
	err = p.found("stat", path, func(n *Node) { info = n.info() })
	return info, err
}

// Access implements disk.FS. There are no permissions here.
func (p *Process) Access(string, uint32) error { return nil }

// Stat implements disk.FS. There are no symbolic links here.
func (p *Process) Stat(path string) (disk.Info, error) { return p.Lstat(path) }

// ReadDir implements disk.FS.
func (p *Process) ReadDir(path string) (names []string, err error) {
	err = p.found("readdir", path, func(n *Node) { names = n.list() })
	return names, err
}

// Mkdir implements disk.FS.
func (p *Process) Mkdir(path string, mode fs.FileMode) error {
	_, err := p.add("mkdir", path, fs.ModeDir|mode)
	return err
}

// two gives the file old the additional name new, and removes the old name unless keep is set.
func (p *Process) two(name, old, new string, replace, keep bool) error {
	return p.on(name, new, func(at place) error {
		from, err := p.Disk.place(old)
		switch {
		case err != nil:
			return err
		case from.node == nil:
			return fs.ErrNotExist
		case at.node != nil && !replace:
			return fs.ErrExist
		case keep:
			p.Disk.change(set{at.dir, entry{at.base, from.node}})
		default:
			p.Disk.change(set{at.dir, entry{at.base, from.node}},
				set{from.dir, entry{name: from.base}})
		}

		return nil
	})
}

// Link implements disk.FS.
func (p *Process) Link(old, new string) error { return p.two("link", old, new, false, true) }

// Replace implements disk.FS.
func (p *Process) Replace(old, new string) error { return p.two("replace", old, new, true, false) }

// Move implements disk.FS.
func (p *Process) Move(old, new string) error { return p.two("move", old, new, false, false) }

// Remove implements disk.FS.
func (p *Process) Remove(path string) error {
	return p.on("remove", path, func(at place) error {
		switch {
		case at.node == nil:
			return fs.ErrNotExist
		case len(at.node.names) > 0:
			return fs.ErrExist
		}
		p.Disk.change(set{at.dir, entry{name: at.base}})
		return nil
	})
}

// Network implements disk.FS.
func (p *Process) Network(string) (string, error) { return p.Disk.Network, nil }

// Resolve implements disk.FS.
func (p *Process) Resolve(path string) (string, error) { return path, nil }

// Euid implements disk.FS. Everything belongs to root.
func (p *Process) Euid() int { return 0 }

// OpenRoot implements disk.FS.
func (p *Process) OpenRoot(path string) (disk.Root, error) {
	if _, err := p.Stat(path); err != nil {
		return nil, err
	}
	return root{p, path}, nil
}

// root is a path, which is enough without symbolic links.
type root struct {
	process *Process
	path    string
}

func (r root) at(name string) string                   { return filepath.Join(r.path, name) }
func (r root) OpenRoot(name string) (disk.Root, error) { return r.process.OpenRoot(r.at(name)) }
func (r root) Lstat(name string) (disk.Info, error)    { return r.process.Lstat(r.at(name)) }
func (r root) Remove(name string) error                { return r.process.Remove(r.at(name)) }
func (r root) Stat() (disk.Info, error)                { return r.process.Stat(r.path) }
func (r root) ReadDir() ([]string, error)              { return r.process.ReadDir(r.path) }
func (r root) Close() error                            { return nil }

func (r root) Chmod(name string, mode fs.FileMode) error {
	return r.process.found("chmod", r.at(name), func(n *Node) { n.mode = n.mode.Type() | mode })
}

func (r root) Rename(old, new string) error {
	return r.process.two("rename", r.at(old), r.at(new), true, false)
}
