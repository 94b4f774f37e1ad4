package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Shape says which members of an object are arrays whose elements have an id of their own, which
// stands for them in paths: the name of the member in them that has the id, by the name of the
// array. It is Queued for one to which elements are added at the end, as "-", and taken away at the
// beginning, as "0".
type Shape map[string]string

// Queued is what a Shape has for an array whose elements come at the end and go at the beginning.
const Queued = "-"

// A State is an object as the lines of its chain make it, line by line.
type State struct {
	Shape   Shape
	LeftOut []string // paths of values that no line has, except those of older versions: see leftOut
	Known   bool     // a line has had a whole object

	root  node
	count int64
}

// A node is a value: its text, or its members.
type node struct {
	text  string
	inner map[string]*node // nil: text counts
	list  []string         // of a Queued array, once it was changed or compared: its elements
	id    string           // the name of the member with the id of each element; "": no array
	order int64
}

// Replay makes s what line makes of it. It returns the path at which s is not what the line says
// that it was before; then s is still what it was made after.
func (s *State) Replay(line Line) (path string, fits bool) {
	fits = true
	for _, c := range line.Patch {
		if c.Path == "" {
			s.Known, s.root = c.After != "", node{text: c.After}
			continue
		}
		if s.Known && !s.leftOut(c.Path) && !s.change(c) && fits {
			path, fits = c.Path, false
		}
	}
	s.SetRevision(line.Revision)
	return path, fits
}

// leftOut reports whether the value at path is left out of the record, or is in one that is. In the
// paths of LeftOut, * stands for any name.
func (s *State) leftOut(path string) bool {
	return slices.ContainsFunc(s.LeftOut, func(pattern string) bool {
		rest, more := path, true
		for name := range strings.SplitSeq(pattern, "/") {
			var is string
			if !more {
				return false
			}
			is, rest, more = strings.Cut(rest, "/")
			if name != "*" && name != is {
				return false
			}
		}
		return true
	})
}

// isLeftOut is leftOut of the member name of the value at path.
func (s *State) isLeftOut(path, name string) bool {
	return slices.ContainsFunc(s.LeftOut, func(pattern string) bool {
		return pattern[strings.LastIndexByte(pattern, '/')+1:] == name // usually not
	}) && s.leftOut(Join(path, name))
}

// SetRevision sets the member revision, which patches do not have.
func (s *State) SetRevision(revision int64) {
	if !s.Known {
		return
	}
	s.expand(&s.root)
	text, at := strconv.FormatInt(revision, 10), s.root.inner["revision"]
	if at == nil {
		at = &node{order: s.next()}
		s.root.inner["revision"] = at
	}
	at.text, at.inner = text, nil
}

// change makes one change, and reports whether the value was as c says.
func (s *State) change(c Change) (fits bool) {
	if in, place, inside := strings.Cut(c.Path, "/"); inside && s.Shape[in] == Queued {
		return s.queued(in, place, c)
	}
	at := &s.root
	top := true
	segments(c.Path, func(name string, last bool) bool {
		s.expand(at)
		next := at.inner[name]
		switch {
		case last:
			fits = s.set(at, name, next, c)
		case next == nil:
			next = &node{text: "{}", order: s.next()}
			if top && s.Shape[name] != "" {
				next.text, next.id = "[]", s.Shape[name]
				fits = true
			}
			at.inner[name] = next
		}
		at, top = next, false
		return !last
	})
	return fits
}

// queued adds an element to a Queued array, or takes the first one away.
func (s *State) queued(name, place string, c Change) (fits bool) {
	s.expand(&s.root)
	n := s.root.inner[name]
	if n == nil {
		n = &node{text: "[]", id: Queued, order: s.next()}
		s.root.inner[name] = n
	}

	n.toList()
	switch {
	case place == "-" && c.After != "" && c.Before == "":
		n.list = append(n.list, c.After)
		return true
	case place == "0" && c.After == "" && len(n.list) > 0:
		if c.Was != "" {
			fits = hashOf(n.list[0]) == c.Was
		} else {
			fits = canonical(n.list[0]) == canonical(c.Before)
		}
		n.list = n.list[1:]
		return fits
	}
	return false
}

// toList makes n, a Queued array, a list.
func (n *node) toList() {
	if n.text == "" {
		return
	}
	r := wire.NewReader(n.text, -lineDepth)
	r.Array(func() { n.list = append(n.list, r.Value()) })
	n.text = ""
}

// set makes the member name of at, which is next or absent, what c says.
func (s *State) set(at *node, name string, next *node, c Change) (fits bool) {
	switch {
	case c.Before != "":
		fits = next != nil && s.is(c.Path, next, c.Before)
	case c.After != "":
		fits = next == nil
	default:
		fits = next != nil && s.hash(c.Path, next) == c.Was
	}

	switch {
	case c.After == "":
		delete(at.inner, name)
	case next == nil:
		at.inner[name] = &node{text: c.After, order: s.next(), id: s.idAt(at, name)}
	default:
		*next = node{text: c.After, order: next.order, id: s.idAt(at, name)}
	}
	return fits
}

func (s *State) next() int64 {
	s.count++
	return s.count
}

// idAt returns the member that has the id of each element of the array name in at, or "".
func (s *State) idAt(at *node, name string) string {
	if at != &s.root {
		return ""
	}
	return s.Shape[name]
}

// expand gives n members instead of a text.
func (s *State) expand(n *node) {
	if n.inner != nil {
		return
	}

	n.inner = make(map[string]*node)
	r := wire.NewReader(n.text, -lineDepth)
	switch {
	case isObject(n.text):
		r.Object(func(name string) {
			n.inner[name] = &node{text: r.Value(), order: s.next(), id: s.idAt(n, name)}
		})
	case n.id != "" && strings.HasPrefix(n.text, "["):
		r.Array(func() {
			text := r.Value()
			n.inner[idOf(text, n.id)] = &node{text: text, order: s.next()}
		})
	}
	n.text = ""
}

// idOf returns the id of an element.
func idOf(element, member string) (id string) {
	r := wire.NewReader(element, -lineDepth)
	if !isObject(element) {
		return ""
	}
	r.Object(func(name string) {
		if name == member && r.AtString() {
			id = r.String()
		} else {
			r.Value()
		}
	})
	return id
}

// is reports whether n, the value at path, is the one in text, which has no white space.
func (s *State) is(path string, n *node, text string) bool {
	if n.inner == nil && n.text == text {
		return true
	}
	other := &State{Shape: s.Shape}
	m := &node{text: text, id: n.id}
	return s.differ(path, n, other, m, true) == nil
}

// Differ returns the paths at which s differs from the object in text, which has no white space.
func (s *State) Differ(text string) []string {
	other := &State{Shape: s.Shape, root: node{text: text}}
	return s.differ("", &s.root, other, &other.root, false)
}

// differ returns the paths at which n of s differs from m of other, or only some of them.
func (s *State) differ(path string, n *node, other *State, m *node, some bool) (paths []string) {
	if n.id == Queued && m.id == Queued {
		n.toList()
		m.toList()
		if slices.EqualFunc(n.list, m.list,
			func(a, b string) bool { return a == b || canonical(a) == canonical(b) }) {
			return nil
		}
		return []string{path}
	}
	switch plain, other := n.isPlain(), m.isPlain(); {
	case n.inner == nil && m.inner == nil && n.text == m.text:
		return nil
	case plain && other && canonical(n.text) == canonical(m.text):
		return nil
	case plain || other:
		return []string{path}
	}

	s.expand(n)
	other.expand(m)
	for name, inner := range n.inner {
		if s.isLeftOut(path, name) {
			continue
		}
		if m.inner[name] == nil {
			paths = append(paths, s.alone(path, name, inner)...)
		} else {
			paths = append(paths, s.differ(Join(path, name), inner, other, m.inner[name], some)...)
		}
		if some && len(paths) > 0 {
			return paths
		}
	}
	for name, inner := range m.inner {
		if n.inner[name] == nil && !s.isLeftOut(path, name) {
			paths = append(paths, other.alone(path, name, inner)...)
		}
	}
	slices.Sort(paths)
	return paths
}

// isPlain reports whether n is neither an object nor an array whose elements have ids.
func (n *node) isPlain() bool { return n.inner == nil && n.id == "" && !isObject(n.text) }

// alone returns the path of the member name of the value at path, which only one of two has. An
// array without elements is as good as none.
func (s *State) alone(path, name string, n *node) []string {
	switch n.id {
	case "":
	case Queued:
		if n.toList(); len(n.list) == 0 {
			return nil
		}
	default:
		if s.expand(n); len(n.inner) == 0 {
			return nil
		}
	}
	return []string{Join(path, name)}
}

// canonical returns text in the one way of writing its value (RFC 8785).
func canonical(text string) string {
	v := jsontext.Value(text)
	if v.Canonicalize() != nil {
		return text
	}
	return string(v)
}

// hashOf returns the hash of a value, whatever the order of its members (spec §54).
func hashOf(text string) string { return wire.Hash(canonical(text)) }

// hash returns hashOf n, the value at path, as the record describes it. n is removed: it loses what
// only lines of older versions have.
func (s *State) hash(path string, n *node) string {
	s.leaveOut(path, n)
	return hashOf(string(n.append(nil)))
}

// leaveOut removes from n, the value at path, what is left out of the record.
func (s *State) leaveOut(path string, n *node) {
	if len(s.LeftOut) == 0 || n.isPlain() {
		return
	}
	s.expand(n)
	for name, inner := range n.inner {
		if s.isLeftOut(path, name) {
			delete(n.inner, name)
		} else {
			s.leaveOut(Join(path, name), inner)
		}
	}
}

// Text returns the object, without white space.
func (s *State) Text() string { return string(s.root.append(nil)) }

func (n *node) append(dst []byte) []byte {
	if n.id == Queued && n.text == "" {
		return append(append(append(dst, '['), strings.Join(n.list, ",")...), ']')
	}
	if n.inner == nil {
		return append(dst, n.text...)
	}

	type member struct {
		name string
		*node
	}
	var all []member
	for name, inner := range n.inner {
		all = append(all, member{name, inner})
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.order, b.order) })

	open, end := byte('{'), byte('}')
	if n.id != "" {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	for i, m := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.id == "" {
			dst = append(wire.AppendQuote(dst, m.name), ':')
		}
		dst = m.node.append(dst)
	}
	return append(dst, end)
}
