package fileops

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// simDisk is a file system in memory that remembers what of it is on disk. Only fsync moves things there: of a file its
// contents, of a directory its names. A rename is one change, whichever of its two directories is flushed.
type simDisk struct {
	root    *simNode
	pending []simChange
	inodes  uint64
}

type simNode struct {
	inode   uint64
	mode    fs.FileMode
	locked  bool
	data    []byte
	onDisk  []byte
	lost    [2]int // from where to where data will not reach the disk, as a failed fsync has forgotten that it has to
	names   map[string]*simNode
	durable map[string]*simNode
}

// simChange sets names, to nothing for nil. It reaches the disk as a whole or not at all.
type simChange []simName

type simName struct {
	dir  *simNode
	name string
	node *simNode
}

func newSimDisk() *simDisk {
	d := &simDisk{}
	d.root = d.node(fs.ModeDir | 0o755)
	return d
}

func (d *simDisk) node(mode fs.FileMode) *simNode {
	d.inodes++
	n := &simNode{inode: d.inodes, mode: mode}
	if mode.IsDir() {
		n.names, n.durable = map[string]*simNode{}, map[string]*simNode{}
	}
	return n
}

func (d *simDisk) find(path string) (*simNode, error) {
	n := d.root
	for _, name := range strings.Split(strings.Trim(path, "/"), "/") {
		if name == "" || name == "." {
			continue
		}
		if n = n.names[name]; n == nil {
			return nil, &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
		}
	}
	return n, nil
}

func (d *simDisk) change(c ...simName) {
	for _, set := range c {
		put(set.dir.names, set)
	}
	d.pending = append(d.pending, c)
}

func put(names map[string]*simNode, set simName) {
	if set.node == nil {
		delete(names, set.name)
	} else {
		names[set.name] = set.node
	}
}

func (d *simDisk) sync(n *simNode) {
	n.onDisk = slices.Clone(n.data)
	clear(n.onDisk[min(n.lost[0], len(n.onDisk)):min(n.lost[1], len(n.onDisk))])
	d.flush(func(c simChange) bool {
		return slices.ContainsFunc(c, func(set simName) bool { return set.dir == n })
	})
}

// flush moves changes to the disk, each after all earlier ones to the same names: journalled and copy-on-write file
// systems keep that order.
func (d *simDisk) flush(wanted func(simChange) bool) {
	chosen := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		chosen[i] = chosen[i] || wanted(d.pending[i])
		for j := range i {
			chosen[j] = chosen[j] || chosen[i] && d.pending[i].touches(d.pending[j])
		}
	}
	var rest []simChange
	for i, c := range d.pending {
		if !chosen[i] {
			rest = append(rest, c)
			continue
		}
		for _, set := range c {
			put(set.dir.durable, set)
		}
	}
	d.pending = rest
}

// failedSync leaves the data where readers see it, but no later fsync knows of it: so it is on Linux.
func (n *simNode) failedSync(err error) {
	if err != nil && !n.mode.IsDir() {
		n.lost = [2]int{len(commonPrefix(n.data, n.onDisk)), len(n.data)}
	}
}

func commonPrefix(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func (c simChange) touches(other simChange) bool {
	return slices.ContainsFunc(c, func(a simName) bool {
		return slices.ContainsFunc(other, func(b simName) bool { return a.dir == b.dir && a.name == b.name })
	})
}

// powerLoss keeps what was flushed and, as it comes, some of the rest: any set of changes to names, and of what is new in
// each file any beginning, or zeros.
func (d *simDisk) powerLoss(r *rand.Rand) {
	d.flush(func(simChange) bool { return r.IntN(2) == 0 })
	d.pending = nil
	d.recover(d.root, r)
}

func (d *simDisk) recover(n *simNode, r *rand.Rand) {
	n.locked = false
	if !n.mode.IsDir() {
		if string(n.data) != string(n.onDisk) {
			same := len(commonPrefix(n.data, n.onDisk))
			part, zeros := n.data[:same+r.IntN(len(n.data)-same+1)], append(slices.Clone(n.data[:same]), make([]byte, len(n.data)-same)...)
			n.onDisk = [][]byte{n.onDisk, n.data, part, zeros}[r.IntN(4)]
		}
		n.data = slices.Clone(n.onDisk)
		n.lost = [2]int{}
		return
	}
	n.names = maps.Clone(n.durable)
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		d.recover(n.names[name], r)
	}
}

// tree lists all paths, for messages and for telling leftovers.
func (d *simDisk) tree() []string {
	var paths []string
	var walk func(path string, n *simNode)
	walk = func(path string, n *simNode) {
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			paths = append(paths, filepath.Join(path, name))
			walk(filepath.Join(path, name), n.names[name])
		}
	}
	walk("/", d.root)
	return paths
}

func (n *simNode) info() Info {
	return Info{Size: int64(len(n.data)), Mode: n.mode, ID: FileID{1, n.inode}}
}

func (n *simNode) String() string { return fmt.Sprintf("inode %d", n.inode) }
