package simfs

import (
	"io/fs"
	"slices"
)

// Process is a simulated process: the disk.FS that it sees, and the faults that hit it.
type Process struct {
	Disk  *Disk
	Fault Fault

	// Yield is called before each call, so that other processes can run. It may be nil.
	Yield func()
	// Wait is called while another process holds the lock of n. It returns false once the caller
	// has waited long enough. It must not be nil if a lock is contended.
	Wait func(n *Node) bool
	// Trace is called with each call. It may be nil.
	Trace func(call string)

	Calls int // made so far

	NoLock, NoFileSync, NoDirSync, NoTruncate bool // seeded bugs
	NoUnnamed                                 bool // the file system has no unnamed files

	held []*lock
	dead bool
}

// A Fault hits one call of a process. If Err is nil, the process is killed there. Otherwise the
// call returns Err: instead of its effect, or after it if Late. A write that is not late has then
// written half. The next More calls also return Err, as on a network that loses one answer and then
// fails.
type Fault struct {
	At   int // the number of the call, from 1; 0 means never
	Err  error
	Late bool
	More int
}

// killed is the panic value of a killed process. Nothing that it does after that reaches the disk.
type killed struct{}

// Run runs f as the program of p. It reports whether f returned; it did not if p was killed.
func (p *Process) Run(f func()) (survived bool) {
	defer func() {
		if !p.dead {
			return
		}
		if cause := recover(); cause != nil && cause != (killed{}) {
			panic(cause)
		}
		p.Kill()
	}()

	f()
	return true
}

// Kill ends p, which may be inside Yield or Wait; after that it only unwinds. Its locks are free at
// once.
func (p *Process) Kill() {
	p.dead = true
	p.Expire()
	p.held = p.held[:0]
}

// Die panics, and so unwinds p, if p was killed.
func (p *Process) Die() {
	if p.dead {
		panic(killed{})
	}
}

// Expire takes the locks of p away without its knowledge, as an expired lease does.
func (p *Process) Expire() {
	for _, l := range p.held {
		if l.node.holder == l {
			l.node.holder = nil
		}
	}
}

// HoldsLock reports whether p believes it holds a lock.
func (p *Process) HoldsLock() bool { return len(p.held) > 0 }

// Call is a system call that does not concern files. It returns the error to return instead of
// making the call, or late, the error to return after making it.
func (p *Process) Call(name string) (late, err error) {
	late, err = p.call(name, "")
	p.end(err)
	return late, err
}

// do makes a call that does not concern a path, and that has effect unless it fails.
func (p *Process) do(name string, effect func()) error {
	late, err := p.Call(name)
	if err == nil {
		effect()
		err = late
	}
	return err
}

// call begins every system call. If late is set, the call must take effect and then return late.
func (p *Process) call(name, path string) (late, err error) {
	p.Die()
	if p.Yield != nil {
		p.Yield()
		p.Die()
	}

	p.Calls++
	if p.Trace != nil {
		if path != "" {
			name += " " + path
		}
		p.Trace(name)
	}

	if p.Fault.At == 0 || p.Calls < p.Fault.At || p.Calls > p.Fault.At+p.Fault.More {
		return nil, nil
	}

	switch {
	case p.Fault.Err != nil && p.Fault.Late && p.Calls == p.Fault.At:
		return p.Fault.Err, nil
	case p.Fault.Err != nil:
		return nil, p.Fault.Err
	}

	return nil, killed{}
}

func (killed) Error() string { return "killed" }

// end ends p if err says that it was killed.
func (p *Process) end(err error) {
	if err == (killed{}) {
		p.Kill()
		panic(killed{})
	}
}

// place is the result of looking up a path: its directory, its name there, and its node, or nil.
type place struct {
	dir  *Node
	base string
	node *Node
}

func (d *Disk) place(path string) (place, error) {
	if path == "/" {
		return place{node: d.root}, nil
	}

	dir, base := split(path)
	at := place{dir: d.find(dir), base: base}
	if at.dir == nil {
		return at, fs.ErrNotExist
	}

	at.node = at.dir.child(base)
	return at, nil
}

// on makes the call name on path.
func (p *Process) on(name, path string, do func(at place) error) error {
	late, err := p.call(name, path)
	p.end(err)
	var at place
	if err == nil {
		at, err = p.Disk.place(path)
	}
	if err == nil {
		err = do(at)
	}
	if err == nil {
		err = late
	}
	if err != nil {
		return &fs.PathError{Op: name, Path: path, Err: err}
	}

	return nil
}

// lock is a lock that its holder believes it has.
type lock struct {
	process *Process
	node    *Node
}

func (l *lock) release() {
	if l.node.holder == l {
		l.node.holder = nil
	}
	l.process.held = slices.DeleteFunc(l.process.held, func(other *lock) bool { return other == l })
}
