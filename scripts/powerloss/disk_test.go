package powerloss

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A disk is a file system in memory on which only synced data is safe: the content of a synced
// file, the names of a synced directory. A rename is one change, which is safe when the directory
// that gets the name is synced. A change of a name comes after earlier ones of that name. That is
// less than any journalled or copy-on-write file system promises.
type disk struct {
	root    *node
	ordered bool // also the changes of different names of a directory come in their order
	pending []change
	written int // how many of pending were there already when the last command began
}

// A node is a file or a directory.
type node struct {
	mode    fs.FileMode
	names   map[string]*node // of a directory, as processes see it
	durable map[string]*node
	history []content // of a file, or the mode of a directory: what is on disk, and each version since
	aged    int       // how long history was when the last command began
}

// content is one version of a node. torn is what else may be of it: parts of the last write.
type content struct {
	mode fs.FileMode
	data []byte
	torn [][]byte
}

// A change sets names, or removes those that are nil; the name that a rename gives comes last. It
// reaches the disk completely or not at all.
type change []entry

type entry struct {
	dir  *node
	name string
	node *node
}

func newNode(mode fs.FileMode, data []byte) *node {
	n := &node{mode: mode, history: []content{{mode: mode, data: data}}}
	if mode.IsDir() {
		n.names, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// load returns what is below path, all of it on disk.
func load(path string) (*node, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}

	if !info.IsDir() {
		data, err := os.ReadFile(path)
		return newNode(info.Mode(), data), err
	}

	n := newNode(info.Mode(), nil)
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		child, err := load(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		n.names[e.Name()], n.durable[e.Name()] = child, child
	}

	return n, err
}

func (n *node) now() *content { return &n.history[len(n.history)-1] }

// find returns what path, relative to the root, names now, or nil.
func (d *disk) find(path string) *node {
	n := d.root
	for _, name := range strings.Split(path, "/") {
		if n == nil || name == "" || name == "." {
			continue
		}
		n = n.names[name]
	}
	return n
}

func (d *disk) change(c ...entry) {
	for _, e := range c {
		put(e.dir.names, e)
	}
	d.pending = append(d.pending, c)
}

func put(names map[string]*node, e entry) {
	if e.node == nil {
		delete(names, e.name)
	} else {
		names[e.name] = e.node
	}
}

// write writes at off of a file: half of it, or zeros, may reach the disk; for lines, everything
// except the last newline.
func (n *node) write(off int64, data []byte, lines bool) {
	before := n.now()
	with := func(part []byte) []byte {
		text := slices.Clone(before.data)
		if more := int(off) + len(part) - len(text); more > 0 {
			text = append(text, make([]byte, more)...)
		}
		copy(text[off:], part)
		return text
	}

	torn := [][]byte{with(data[:len(data)/2]), with(make([]byte, len(data)))}
	if lines {
		torn = append(torn, with(data[:max(len(data), 1)-1]))
	}

	n.history = append(n.history, content{n.mode, with(data), torn})
}

func (n *node) truncate(size int64) {
	data := append(slices.Clone(n.now().data), make([]byte, max(0, int(size)-len(n.now().data)))...)
	n.history = append(n.history, content{mode: n.mode, data: data[:size]})
}

func (n *node) chmod(mode fs.FileMode) {
	n.mode = n.mode&^0o777 | mode
	n.history = append(n.history, content{mode: n.mode, data: n.now().data})
}

// sync is fsync of a file or directory.
func (d *disk) sync(n *node) {
	n.history, n.aged = []content{{mode: n.mode, data: n.now().data}}, 0
	if n.mode.IsDir() {
		d.flush(func(c change) bool { return c[len(c)-1].dir == n })
	}
}

// flush moves changes to the disk, each after those it depends on.
func (d *disk) flush(wanted func(change) bool) {
	chosen := make([]bool, len(d.pending))
	for i := len(d.pending) - 1; i >= 0; i-- {
		chosen[i] = chosen[i] || wanted(d.pending[i])
		for j := range i {
			chosen[j] = chosen[j] || chosen[i] && d.after(d.pending[i], d.pending[j])
		}
	}

	var rest []change
	written := 0
	for i, c := range d.pending {
		if !chosen[i] {
			rest = append(rest, c)
			if i < d.written {
				written++
			}
			continue
		}

		for _, e := range c {
			put(e.dir.durable, e)
		}
	}

	d.pending, d.written = rest, written
}

// age is the time between two commands, after which older data is on disk. Otherwise data that is
// never synced, below tmp/ and beside resources, would stay in doubt, and multiply the cuts with
// each command.
func (d *disk) age() {
	for d.written > 0 {
		first := d.pending[0]
		d.flush(func(c change) bool { return &c[0] == &first[0] })
	}

	d.written = len(d.pending)
	nodes := map[*node]bool{}
	for _, f := range append(reachable(d.root, "", nil), walk(d.root, "",
		func(n *node) map[string]*node { return n.names })...) {
		nodes[f.node] = true
	}

	for n := range nodes {
		n.age()
	}
}

func (n *node) age() {
	if n.aged > 1 && n.aged <= len(n.history) {
		n.history = n.history[n.aged-1:]
		n.history[0].torn = nil
	}
	n.aged = len(n.history)
}

// after reports whether a change may only reach the disk after an earlier one.
func (d *disk) after(later, earlier change) bool {
	return slices.ContainsFunc(later, func(a entry) bool {
		return slices.ContainsFunc(earlier, func(b entry) bool {
			return a.dir == b.dir &&
				(d.ordered || a.name == b.name)
		})
	})
}

// versions returns what may be on disk of a node, the oldest first, each once.
func (n *node) versions() []content {
	var all []content
	add := func(c content) {
		if !slices.ContainsFunc(all,
			func(o content) bool { return o.mode == c.mode && bytes.Equal(o.data, c.data) }) {
			all = append(all, c)
		}
	}

	for _, c := range n.history {
		for _, torn := range c.torn {
			add(content{mode: c.mode, data: torn})
		}
		add(content{mode: c.mode, data: c.data})
	}

	return all
}
