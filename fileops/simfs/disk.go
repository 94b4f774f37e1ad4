// Package simfs is a file system in memory, for tests of package fileops, that crashes, loses power
// and fills up on demand. A [Disk] knows what a power cut would leave of it, and a [Process] is the
// disk.FS that one simulated process sees. Nothing here waits, and only the caller's seed decides
// what is random.
package simfs

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
)

// Disk is a file system that knows which part of it is on disk. Only fsync writes there: for a file
// its contents, for a directory its names. A rename is a single change, whichever of its two
// directories is synced.
type Disk struct {
	Now     func() time.Time // the time of new files; nil: the zero time
	Network string           // the result of disk.FS.Network
	// a power cut that keeps a change of names keeps all earlier ones, as a journal does
	Ordered bool

	root    *Node
	pending []change
	nodes   []*Node // all nodes made since New, reused after Reset
	used    int
}

// Node is a file or directory, whatever its names.
type Node struct {
	inode   uint64
	mode    fs.FileMode
	modTime time.Time
	holder  *lock // the lock on it, if any
	data    []byte
	onDisk  []byte
	tried   int      // this many bytes of data were in an fsync, which may have failed
	lost    [][2]int // ranges of data that a failed fsync has dropped: no later one writes them
	names   []entry
	durable []entry
}

// entry is one name in a directory. Directories keep names in the order of creation, so that random
// parts of names do not change what happens next.
type entry struct {
	name string
	node *Node
}

// change sets one or two names, or removes those with a nil node. It reaches the disk completely or
// not at all.
type change struct {
	n    int
	sets [2]set
}

type set struct {
	dir *Node
	entry
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{}
	d.Reset()
	return d
}

// Reset makes d empty.
func (d *Disk) Reset() {
	d.used, d.pending = 0, d.pending[:0]
	d.root = d.node(fs.ModeDir | 0o755)
}

func (d *Disk) node(mode fs.FileMode) *Node {
	if d.used == len(d.nodes) {
		for range 32 {
			d.nodes = append(d.nodes, new(Node))
		}
	}

	n := d.nodes[d.used]
	d.used++
	*n = Node{inode: uint64(d.used), mode: mode, data: n.data[:0], names: n.names[:0],
		durable: n.durable[:0]}
	d.touch(n)
	return n
}

func (d *Disk) touch(n *Node) {
	if d.Now != nil {
		n.modTime = d.Now()
	}
}

// split returns the directory and the last element of an absolute, clean path.
func split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

// find returns the node at path, or nil if there is none.
func (d *Disk) find(path string) *Node {
	n := d.root
	for name := range strings.SplitSeq(path, "/") {
		if n != nil && name != "" {
			n = n.child(name)
		}
	}
	return n
}

func (n *Node) child(name string) *Node {
	for i := range n.names {
		if n.names[i].name == name {
			return n.names[i].node
		}
	}
	return nil
}

func put(names []entry, e entry) []entry {
	i := slices.IndexFunc(names, func(other entry) bool { return other.name == e.name })
	switch {
	case i < 0 && e.node == nil:
		return names
	case i < 0:
		return append(names, e)
	case e.node == nil:
		return slices.Delete(names, i, i+1)
	}

	names[i].node = e.node
	return names
}

func (d *Disk) change(sets ...set) {
	var c change
	for _, s := range sets {
		s.dir.names = put(s.dir.names, s.entry)
		c.sets[c.n] = s
		c.n++
	}
	d.pending = append(d.pending, c)
}

// Tree returns all paths, each after its directory.
func (d *Disk) Tree() []string {
	var paths []string
	var walk func(dir string, n *Node)
	walk = func(dir string, n *Node) {
		for _, e := range n.names {
			name := path.Join(dir, e.name)
			paths = append(paths, name)
			walk(name, e.node)
		}
	}

	walk("/", d.root)
	slices.Sort(paths)
	return paths
}

// Names returns the names in a directory, or nil if there is no such directory.
func (d *Disk) Names(path string) []string {
	if n := d.find(path); n != nil {
		return n.list()
	}
	return nil
}

// list returns the names in a directory.
func (n *Node) list() []string {
	names := make([]string, len(n.names))
	for i, e := range n.names {
		names[i] = e.name
	}
	return names
}

// Exists reports whether there is something at path.
func (d *Disk) Exists(path string) bool { return d.find(path) != nil }

// ReadFile returns the contents of a file as processes see them, on disk or not.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	n := d.find(path)
	if n == nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return n.data, nil
}

// Locked reports whether a process holds the lock of n.
func (n *Node) Locked() bool { return n.holder != nil }

func (n *Node) info() disk.Info {
	return disk.Info{Size: int64(len(n.data)), Mode: n.mode, ModTime: n.modTime, Changed: n.modTime,
		ID: disk.FileID{Device: 1, Inode: n.inode}, Links: 1}
}

// String returns the inode number of n.
func (n *Node) String() string { return fmt.Sprintf("inode %d", n.inode) }
