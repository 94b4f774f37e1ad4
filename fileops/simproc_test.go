package fileops

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// simProc is the operating system as one simulated process sees it.
type simProc struct {
	disk  *simDisk
	calls int
	trace []string
	held  []*simNode
	dead  bool

	// At call number faultAt the process is killed, or gets fault instead of the call, or, if late, after it. It gets fault
	// instead of the next more calls, too.
	faultAt int
	fault   error // nil: killed
	late    bool
	more    int

	yield func(blockedBy *simNode) // nil: this process runs alone

	noLock, noFileSync, noDirSync, noTruncate bool // seeded bugs
}

// killed is what a simulated process panics with: nothing it does after that reaches the disk.
type killed struct{}

// alive runs f as the process's main program and reports whether it survived.
func (p *simProc) alive(f func()) (survived bool) {
	defer func() {
		if !p.dead {
			return
		}
		if cause := recover(); cause != (killed{}) {
			panic(cause)
		}
		for _, n := range p.held {
			n.locked = false
		}
	}()
	f()
	return true
}

// call is the beginning of every system call. If late is set it returns the error that the call has to end with.
func (p *simProc) call(name string, partly func()) (late, err error) {
	if p.dead {
		panic(killed{})
	}
	if p.yield != nil {
		p.yield(nil)
	}
	p.calls++
	p.trace = append(p.trace, name)
	if p.calls < p.faultAt || p.calls > p.faultAt+p.more || p.faultAt == 0 {
		return nil, nil
	}
	if p.fault != nil && p.late && p.calls == p.faultAt {
		return p.fault, nil
	}
	if partly != nil {
		partly()
	}
	if p.fault == nil {
		p.dead = true
		panic(killed{})
	}
	return nil, p.fault
}

// excuses reports whether err may say that nobody can tell what became of an edit: that takes more than one error.
func (p *simProc) excuses(err error) bool { return p.more > 0 && errors.Is(err, ErrUnknown) }

func (p *simProc) on(name, path string, do func(dir *simNode, base string, n *simNode) error) error {
	late, err := p.call(name+" "+path, nil)
	if err != nil {
		return &fs.PathError{Op: name, Path: path, Err: err}
	}
	dir, err := p.disk.find(filepath.Dir(path))
	if err == nil {
		err = do(dir, filepath.Base(path), dir.names[filepath.Base(path)])
	}
	if err == nil {
		err = late
	}
	if err != nil {
		return &fs.PathError{Op: name, Path: path, Err: err}
	}
	return nil
}

func (p *simProc) Within(string, func(string, Info) error) FS { return p }
func (p *simProc) Refresh()                                   {}

func (p *simProc) Lock(path string, create fs.FileMode, expired <-chan struct{}) (Lock, error) {
	var lock *simLock
	err := p.on("lock", path, func(dir *simNode, base string, n *simNode) error {
		if n == nil && create == 0 {
			return fs.ErrNotExist
		}
		if n == nil {
			n = p.disk.node(create)
			p.disk.change(simName{dir, base, n})
		}
		for n.locked && !p.noLock {
			if expired == nil {
				return ErrBusy
			}
			p.yield(n)
		}
		n.locked = true
		p.held = append(p.held, n)
		lock = &simLock{p, n}
		return nil
	})
	if err != nil && lock != nil {
		lock.release()
	}
	return lock, err
}

type simLock struct {
	p *simProc
	n *simNode
}

func (l *simLock) Stat() (Info, error) {
	late, err := l.p.call("stat lock", nil)
	if err == nil {
		err = late
	}
	return l.n.info(), err
}

func (l *simLock) Unlock() error {
	late, err := l.p.call("unlock", nil)
	l.release()
	if err == nil {
		err = late
	}
	return err
}

func (l *simLock) release() {
	l.n.locked = false
	l.p.held = slices.DeleteFunc(l.p.held, func(n *simNode) bool { return n == l.n })
}

func (p *simProc) Open(path string) (f File, err error) {
	err = p.on("open", path, func(dir *simNode, base string, n *simNode) error {
		if path == "/" {
			n = p.disk.root
		}
		if n == nil {
			return fs.ErrNotExist
		}
		f = &simFile{p: p, n: n}
		return nil
	})
	return f, err
}

func (p *simProc) Create(path string, mode fs.FileMode) (f File, err error) {
	err = p.on("create", path, func(dir *simNode, base string, n *simNode) error {
		if n != nil {
			return fs.ErrExist
		}
		n = p.disk.node(mode)
		p.disk.change(simName{dir, base, n})
		f = &simFile{p: p, n: n}
		return nil
	})
	return f, err
}

func (p *simProc) OpenAppend(path string) (f File, err error) {
	err = p.on("open append", path, func(dir *simNode, base string, n *simNode) error {
		if n == nil {
			return fs.ErrNotExist
		}
		f = &simFile{p: p, n: n}
		return nil
	})
	return f, err
}

func (p *simProc) Lstat(path string) (info Info, err error) {
	err = p.on("stat", path, func(dir *simNode, base string, n *simNode) error {
		if path == "/" {
			n = p.disk.root
		}
		if n == nil {
			return fs.ErrNotExist
		}
		info = n.info()
		return nil
	})
	return info, err
}

func (p *simProc) Stat(path string) (Info, error) { return p.Lstat(path) }

func (p *simProc) ReadDir(path string) (names []string, err error) {
	err = p.on("readdir", path, func(dir *simNode, base string, n *simNode) error {
		if n == nil {
			return fs.ErrNotExist
		}
		names = slices.Sorted(maps.Keys(n.names))
		return nil
	})
	return names, err
}

func (p *simProc) Mkdir(path string, mode fs.FileMode) error {
	return p.on("mkdir", path, func(dir *simNode, base string, n *simNode) error {
		if n != nil {
			return fs.ErrExist
		}
		p.disk.change(simName{dir, base, p.disk.node(fs.ModeDir | mode)})
		return nil
	})
}

func (p *simProc) two(name, old, new string, replace, keep bool) error {
	return p.on(name, new, func(dir *simNode, base string, n *simNode) error {
		from, err := p.disk.find(filepath.Dir(old))
		if err != nil {
			return err
		}
		moved := from.names[filepath.Base(old)]
		switch {
		case moved == nil:
			return fs.ErrNotExist
		case n != nil && !replace:
			return fs.ErrExist
		case keep:
			p.disk.change(simName{dir, base, moved})
		default:
			p.disk.change(simName{dir, base, moved}, simName{from, filepath.Base(old), nil})
		}
		return nil
	})
}

func (p *simProc) Link(old, new string) error    { return p.two("link", old, new, false, true) }
func (p *simProc) Replace(old, new string) error { return p.two("replace", old, new, true, false) }
func (p *simProc) Move(old, new string) error    { return p.two("move", old, new, false, false) }

func (p *simProc) Remove(path string) error {
	return p.on("remove", path, func(dir *simNode, base string, n *simNode) error {
		switch {
		case n == nil:
			return fs.ErrNotExist
		case len(n.names) > 0:
			return fs.ErrExist
		}
		p.disk.change(simName{dir, base, nil})
		return nil
	})
}

func (p *simProc) Resolve(path string) (string, error) { return path, nil }
func (p *simProc) Euid() int                           { return 0 }

func (p *simProc) OpenRoot(path string) (Root, error) {
	if _, err := p.Stat(path); err != nil {
		return nil, err
	}
	return simRoot{p, path}, nil
}

// simRoot knows no symbolic links, so a path will do.
type simRoot struct {
	p    *simProc
	path string
}

func (r simRoot) at(name string) string              { return filepath.Join(r.path, name) }
func (r simRoot) OpenRoot(name string) (Root, error) { return r.p.OpenRoot(r.at(name)) }
func (r simRoot) Lstat(name string) (Info, error)    { return r.p.Lstat(r.at(name)) }
func (r simRoot) Rename(old, new string) error {
	return r.p.two("rename", r.at(old), r.at(new), true, false)
}
func (r simRoot) Remove(name string) error   { return r.p.Remove(r.at(name)) }
func (r simRoot) Stat() (Info, error)        { return r.p.Stat(r.path) }
func (r simRoot) ReadDir() ([]string, error) { return r.p.ReadDir(r.path) }
func (r simRoot) Close() error               { return nil }

type simFile struct {
	p   *simProc
	n   *simNode
	off int
}

func (f *simFile) do(name string, partly, whole func()) error {
	late, err := f.p.call(name, partly)
	if err != nil {
		return err
	}
	whole()
	return late
}

func (f *simFile) Read(b []byte) (n int, err error) {
	err = f.do("read", nil, func() { n = copy(b, f.n.data[f.off:]); f.off += n })
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

func (f *simFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.do("read at", nil, func() { n = copy(b, f.n.data[min(int(off), len(f.n.data)):]) })
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Write writes one half if it is interrupted or the disk is full.
func (f *simFile) Write(b []byte) (int, error) {
	err := f.do("write",
		func() { f.n.data = append(f.n.data, b[:len(b)/2]...) },
		func() { f.n.data = append(f.n.data, b...) })
	return len(b), err
}

func (f *simFile) Stat() (info Info, err error) {
	err = f.do("fstat", nil, func() { info = f.n.info() })
	return info, err
}

func (f *simFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", nil, func() { f.n.mode = f.n.mode.Type() | mode })
}

func (f *simFile) Truncate(size int64) error {
	return f.do("truncate", nil, func() {
		if !f.p.noTruncate {
			f.n.data = slices.Clone(f.n.data[:size])
			f.n.lost[1] = min(f.n.lost[1], int(size))
			f.n.lost[0] = min(f.n.lost[0], f.n.lost[1])
		}
	})
}

func (f *simFile) Cut(size int64) error {
	return f.do("cut", nil, func() {
		f.n.data = slices.Clone(f.n.data[size:])
		f.n.lost = [2]int{}
	})
}

func (f *simFile) Sync() error {
	return f.do("fsync", func() { f.n.failedSync(f.p.fault) }, func() {
		if isDir := f.n.mode.IsDir(); isDir && !f.p.noDirSync || !isDir && !f.p.noFileSync {
			f.p.disk.sync(f.n)
		}
	})
}

func (f *simFile) Close() error { return f.do("close", nil, func() {}) }

func (p *simProc) Network(string) (string, error) { return "", nil }
