package wire

import "slices"

// A Member is an unknown member of an object, which is kept. Its value is JSON text.
type Member struct {
	Name  string
	Value string
}

// Unknown reads the value of an unknown member, and adds it to members. A strict reader refuses it.
func (r *Reader) Unknown(members *[]Member, name string) {
	*members = append(*members, Member{Name: name, Value: r.Value()})
	if r.strict {
		r.Refuse("there is no such member")
	}
}

// Unknown appends members.
func (w *Writer) Unknown(members []Member) {
	for _, m := range members {
		w.name(m.Name)
		w.value(m.Value)
	}
}

// Nested are the unknown members of objects inside an object, by the names of these objects. Nil
// are none. They are shared, and never changed once they have been read.
type Nested struct{ members []nestedMember }

type nestedMember struct {
	in string
	Member
}

// Nested reads an unknown member of the object called in, and adds it to nested.
func (r *Reader) Nested(nested **Nested, in, name string) {
	if *nested == nil {
		*nested = &Nested{}
	}
	n := *nested
	n.members = append(n.members, nestedMember{in, Member{Name: name, Value: r.Value()}})
}

// Of returns the members of the object called in.
func (n *Nested) Of(in string) (members []Member) {
	if n == nil {
		return nil
	}

	for _, m := range n.members {
		if m.in == in {
			members = append(members, m.Member)
		}
	}
	return members
}

// Without returns n without the members of the object called in, which has been replaced.
func (n *Nested) Without(in string) *Nested {
	if n.Of(in) == nil {
		return n
	}
	left := slices.DeleteFunc(slices.Clone(n.members),
		func(m nestedMember) bool { return m.in == in })
	return &Nested{left}
}
