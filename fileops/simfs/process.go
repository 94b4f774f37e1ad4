package simfs

import (
	"io/fs"
	"slices"
)

// Process is what one simulated process sees of a disk, and what happens to it there. It is a disk.FS.
type Process struct {
	Disk  *Disk
	Fault Fault

	// Yield is called before each call: others may run meanwhile. Nil: this process runs alone.
	Yield func()
	// Wait is called while somebody else has the lock of n. It returns false when the caller has waited long enough. Nil:
	// that is a bug of the test.
	Wait func(n *Node) bool
	// Trace is told of each call; nil: nobody is.
	Trace func(call string)

	Calls int // made so far

	NoLock, NoFileSync, NoDirSync, NoTruncate bool // seeded bugs

	held []*lock
	dead bool
}

// A Fault is what happens at one call of a process: it is killed, or gets Err instead of the call, or, if Late, after it. A
// write that is not late has then written one half. It gets Err instead of the More calls that follow, too: so it is with a
// network that loses an answer and is gone.
type Fault struct {
	At   int // the number of the call, from 1; 0: never
	Err  error
	Late bool
	More int
}

// killed is what a simulated process panics with: nothing that it does after that reaches the disk.
type killed struct{}

// Run runs f as the program of p and reports whether it came to its end: it did not if p was killed.
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

// Kill ends p, which may be in the middle of a call to Yield or Wait: all that it does after that is to unwind. Its locks are
// free at once.
func (p *Process) Kill() {
	p.dead = true
	p.Expire()
	p.held = p.held[:0]
}

// Die unwinds p if it was killed.
func (p *Process) Die() {
	if p.dead {
		panic(killed{})
	}
}

// Expire takes the locks of p away without its knowledge, as a lease runs out.
func (p *Process) Expire() {
	for _, l := range p.held {
		if l.node.holder == l {
			l.node.holder = nil
		}
	}
}

// HoldsLock reports whether p believes to have a file locked.
func (p *Process) HoldsLock() bool { return len(p.held) > 0 }

// Call is a system call that has nothing to do with files. It returns the error that is to take the place of the call, or that it
// is to return late.
func (p *Process) Call(name string) (late, err error) {
	late, err = p.call(name, "")
	p.end(err)
	return late, err
}

// call is the beginning of every system call. If late is set it returns the error that the call has to end with.
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

// end ends p if err says so.
func (p *Process) end(err error) {
	if err == (killed{}) {
		p.Kill()
		panic(killed{})
	}
}

// place is where a path leads: a name in a directory, and what has it.
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

// lock is a lock file that its holder believes to have locked.
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
