package powerloss

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"
)

// A replay does to a disk what the system calls of a trace did to the directory base.
type replay struct {
	disk    *disk
	base    string
	skip    func(n *node) bool // a fsync of n that is left out
	before  func() error       // is called before each fsync that is not
	threads map[int]*process
}

// A process is what its threads share.
type process struct {
	files map[int]*file
	cwd   string
}

// A file is one that a process has open: node is nil outside base.
type file struct {
	path    string
	node    *node
	offset  int64
	appends bool
	cloexec bool
}

// run replays a trace of one command.
func (r *replay) run(t trace) error {
	r.threads = map[int]*process{}
	for _, c := range t.calls {
		if err := r.call(r.process(c.thread, t), c); err != nil {
			return fmt.Errorf("%s: %w", c.line, err)
		}
	}
	return nil
}

// process returns the process of a thread, and creates it at its first appearance. strace may log
// that before the end of the call that created it.
func (r *replay) process(thread int, t trace) *process {
	if p := r.threads[thread]; p != nil {
		return p
	}

	p := &process{files: map[int]*file{}, cwd: "/"}
	if made, ok := t.parents[thread]; ok {
		if parent := r.process(made.thread, t); made.has("CLONE_FILES") {
			p = parent
		} else {
			p = &process{files: maps.Clone(parent.files), cwd: parent.cwd}
		}
	}

	r.threads[thread] = p
	return p
}

func (r *replay) call(p *process, c call) error {
	switch c.name {
	case "clone", "clone3", "fork", "vfork":
		return nil
	case "execve":
		maps.DeleteFunc(p.files, func(_ int, f *file) bool { return f.cloexec })
		return nil
	case "chdir":
		dir, err := c.bytes(0)
		p.cwd = path.Join(p.cwd, string(dir))
		return err
	case "open":
		return r.open(p, c, "AT_FDCWD", 0, 1)
	case "openat":
		return r.open(p, c, c.args[0], 1, 2)
	case "close":
		fd, err := c.number(0)
		delete(p.files, int(fd))
		return err
	case "dup", "dup2", "dup3", "fcntl":
		return p.duplicate(c)
	case "renameat", "renameat2":
		return r.rename(p, c, 0, 2)
	case "linkat":
		return r.link(p, c)
	case "unlinkat":
		return r.unlink(p, c, c.args[0], 1)
	case "mkdirat":
		return r.mkdir(p, c)
	}

	return r.onFile(p, c)
}

// onFile is a call whose first argument says which file it is about.
func (r *replay) onFile(p *process, c call) error {
	fd, err := c.number(0)
	if err != nil {
		return r.unexpected(c)
	}

	f := p.files[int(fd)]
	if f == nil || f.node == nil {
		return nil
	}

	switch c.name {
	case "write":
		return f.write(c)
	case "ftruncate":
		size, err := c.number(1)
		f.node.truncate(size)
		return err
	case "fchmod":
		mode, err := c.number(1)
		f.node.chmod(fs.FileMode(mode).Perm())
		return err
	case "fsync", "fdatasync":
		return r.sync(f.node)
	}

	return r.unexpected(c)
}

// unexpected refuses a call that may change base and is not replayed.
func (r *replay) unexpected(c call) error {
	for i := range c.args {
		if text, err := c.bytes(i); err == nil && strings.HasPrefix(string(text), "/") &&
			!strings.HasPrefix(string(text), r.base) {
			return nil
		}
	}
	return fmt.Errorf("no replay of %s", c.name)
}

func (r *replay) sync(n *node) error {
	if r.skip != nil && r.skip(n) {
		return nil
	}
	if err := r.before(); err != nil {
		return err
	}
	r.disk.sync(n)
	return nil
}

func (f *file) write(c call) error {
	data, err := c.bytes(1)
	if err != nil {
		return err
	}
	if f.appends {
		f.offset = int64(len(f.node.now().data))
	}

	f.node.write(f.offset, data[:c.result], f.appends)
	f.offset += c.result
	return nil
}

func (p *process) duplicate(c call) error {
	if c.name == "fcntl" && !strings.HasPrefix(c.args[1], "F_DUPFD") {
		return nil
	}

	fd, err := strconv.Atoi(c.args[0])
	if err != nil {
		return err
	}

	delete(p.files, int(c.result))
	if f := p.files[fd]; f != nil {
		p.files[int(c.result)] = f
	}
	return nil
}
