package powerloss

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// A state is what a power cut may leave: the files and directories below a root, each after its
// directory.
type state []item

type item struct {
	path string
	mode fs.FileMode
	data []byte
}

// exhaustive is the number of sets of changes up to which all are tried. If there are more, this
// many random ones are tried.
const exhaustive = 1 << 12

// states calls do for what a power cut may leave now, perhaps more than once for the same.
func (d *disk) states(do func(state) error) error {
	for _, chosen := range d.subsets() {
		after := map[*node]map[string]*node{}
		for i, c := range d.pending {
			for _, e := range c {
				if chosen[i] {
					if after[e.dir] == nil {
						after[e.dir] = maps.Clone(e.dir.durable)
					}
					put(after[e.dir], e)
				}
			}
		}

		if err := combine(reachable(d.root, "", after), nil, do); err != nil {
			return err
		}
	}

	return nil
}

// live is the state that processes see.
func (d *disk) live() state {
	var s state
	for _, f := range walk(d.root, "", func(n *node) map[string]*node { return n.names }) {
		s = append(s, item{f.path, f.node.now().mode, f.node.now().data})
	}
	return s
}

// A found is a node and a path to it.
type found struct {
	path string
	node *node
}

func reachable(root *node, path string, after map[*node]map[string]*node) []found {
	return walk(root, path, func(n *node) map[string]*node {
		if names, changed := after[n]; changed {
			return names
		}
		return n.durable
	})
}

func walk(n *node, path string, names func(*node) map[string]*node) []found {
	all := []found{{path, n}}
	in := names(n)
	for _, name := range slices.Sorted(maps.Keys(in)) {
		all = append(all, walk(in[name], path+"/"+name, names)...)
	}
	return all
}

// combine calls do for each combination of the versions of all files.
func combine(files []found, s state, do func(state) error) error {
	if len(files) == 0 {
		return do(slices.Clone(s))
	}

	for _, v := range files[0].node.versions() {
		if err := combine(files[1:], append(s, item{files[0].path, v.mode, v.data}),
			do); err != nil {
			return err
		}
	}

	return nil
}

// subsets returns the sets of pending changes that may have reached the disk. Each change comes
// with those it depends on.
func (d *disk) subsets() [][]bool {
	var all [][]bool
	var extend func(chosen []bool)
	extend = func(chosen []bool) {
		if len(chosen) == len(d.pending) {
			all = append(all, slices.Clone(chosen))
		}
		if len(chosen) == len(d.pending) || len(all) > exhaustive {
			return
		}

		extend(append(chosen, false))
		if d.possible(chosen) {
			extend(append(chosen, true))
		}
	}

	extend(nil)
	if len(all) <= exhaustive {
		return all
	}

	r := rand.New(rand.NewPCG(1, uint64(len(d.pending))))
	all = [][]bool{d.pick(func() bool { return false }), d.pick(func() bool { return true })}
	for range exhaustive {
		likely := r.Float64()
		all = append(all, d.pick(func() bool { return r.Float64() < likely }))
	}

	return all
}

func (d *disk) pick(wanted func() bool) []bool {
	var chosen []bool
	for range d.pending {
		chosen = append(chosen, wanted() && d.possible(chosen))
	}
	return chosen
}

// possible reports whether the next change may be chosen after those that chosen tells of.
func (d *disk) possible(chosen []bool) bool {
	next := d.pending[len(chosen)]
	for i, is := range chosen {
		if !is && d.after(next, d.pending[i]) {
			return false
		}
	}
	return true
}

func (s state) key() [32]byte {
	h := sha256.New()
	for _, f := range s {
		fmt.Fprintf(h, "%s %v %d\n", f.path, f.mode, len(f.data))
		h.Write(f.data)
	}
	return [32]byte(h.Sum(nil))
}

// diff returns how s differs from other, or "". Of the mode of a file it compares only permissions.
func (s state) diff(other state) string {
	for i := range max(len(s), len(other)) {
		switch {
		case i >= len(s):
			return "there is no " + other[i].path
		case i >= len(other):
			return "there is " + s[i].path
		case s[i].path != other[i].path || s[i].mode != other[i].mode ||
			!bytes.Equal(s[i].data, other[i].data):
			return fmt.Sprintf("%s %v %q, and %s %v %q", s[i].path, s[i].mode, s[i].data,
				other[i].path, other[i].mode, other[i].data)
		}
	}

	return ""
}

// materialise creates the directory to with the content of s. The files mention it as from, a path
// of the same length.
func (s state) materialise(from, to string) error {
	if len(from) != len(to) {
		return fmt.Errorf("%s and %s differ in length", from, to)
	}

	var closed []item
	for _, f := range s {
		path := to + f.path
		var err error
		switch {
		case !f.mode.IsDir():
			err = os.WriteFile(path, bytes.ReplaceAll(f.data, []byte(from), []byte(to)),
				f.mode.Perm())
		default:
			err = os.Mkdir(path, 0o700)
			if f.mode.Perm() != 0o700 {
				closed = append(closed, f)
			}
		}

		if err != nil {
			return err
		}
	}

	var err error
	for _, f := range closed {
		err = errors.Join(err, os.Chmod(to+f.path, f.mode.Perm()))
	}

	return err
}

// remove removes what materialise has made, and what was made of it.
func remove(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}
