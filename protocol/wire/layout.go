package wire

import "slices"

// A layout describes how the last object in some place was written. The next one there usually has
// the same members, in the same order, with the same space around their names.
type layout struct {
	members []member
	marks   uint64              // of the names: if the mark of a name is missing, the name is new
	names   map[string]struct{} // of an object of many members
}

type member struct {
	lead  string // the text from the end of the last value to this one
	name  string
	inner layout // of the objects in the value
}

// keep forgets all members except the first n.
func (l *layout) keep(n int) {
	l.members, l.marks, l.names = l.members[:n], 0, nil
	for _, m := range l.members {
		l.marks |= mark(m.name)
	}
}

// add adds a member, and reports whether its name is new.
func (l *layout) add(lead, name string) bool {
	const few = 32
	n, bit := len(l.members), mark(name)
	isNew := l.marks&bit == 0
	l.marks |= bit
	if n < cap(l.members) {
		l.members = l.members[:n+1] // with the layouts of objects inside
	} else {
		l.members = append(slices.Grow(l.members, 4+n), member{})
	}

	l.members[n].lead, l.members[n].name = lead, name

	if n < few {
		return isNew || !slices.ContainsFunc(l.members[:n],
			func(m member) bool { return m.name == name })
	}

	if l.names == nil {
		l.names = make(map[string]struct{}, 8*few)
		for _, m := range l.members[:n] {
			l.names[m.name] = struct{}{}
		}
	}

	_, has := l.names[name]
	l.names[name] = struct{}{}

	return !has
}

// inner returns the layout of the objects in value i. The values of an object of very many members
// are taken to look alike, as the elements of an array do.
func (l *layout) inner(i int) *layout {
	const most = 64 // members of a record
	return &l.members[min(i, most)].inner
}

// mark returns one bit, which usually differs for different names.
func mark(name string) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(n)*7 + uint(name[0])*5 + uint(name[n-1])*11 + uint(name[n/2])*3) % 64)
}
