package audit

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Change is a change of one value of an object (spec §54). Before and After are JSON without
// white space; "" means that the value is absent. An object that is removed has Was instead of
// Before.
type Change struct {
	Path   string // names of members, and ids of elements, with / between; "": the whole object
	Before string
	After  string
	Was    string // hash of the object that is removed: see hashOf; "": absent
}

// noName stands for an empty name in a path.
const noName = "~2"

// Join returns the path of the member name of the value at path.
func Join(path, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	if name == "" {
		name = noName
	}
	if path == "" {
		return name
	}
	return path + "/" + name
}

// segments calls do with the names that path is made of, until it returns false.
func segments(path string, do func(name string, last bool) bool) {
	for path != "" {
		name, rest, more := strings.Cut(path, "/")
		if name == noName {
			name = ""
		} else if strings.Contains(name, "~") {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		}
		if !do(name, !more) {
			return
		}
		path = rest
	}
}

// Diff appends to patch the changes that make before, the value at path, after. Both are JSON
// without white space, as of wire.Line; "" means that there is none. It looks into objects, but not
// into arrays.
func Diff(patch []Change, path, before, after string) []Change {
	switch {
	case before == after:
		return patch
	case isObject(before) && after == "": // earlier lines have it
		return append(patch, Change{Path: path, Was: hashOf(before)})
	case !isObject(before) || !isObject(after):
		return append(patch, Change{Path: path, Before: before, After: after})
	}

	was, is := members(before), members(after)
	for _, m := range is {
		patch = Diff(patch, Join(path, m.Name), find(was, m.Name), m.Value)
	}
	for _, m := range was {
		if find(is, m.Name) == "" {
			patch = Diff(patch, Join(path, m.Name), m.Value, "")
		}
	}
	return patch
}

func isObject(text string) bool { return text != "" && text[0] == '{' }

// members returns the members of an object.
func members(object string) []wire.Member {
	all, _ := wire.Decode(object, -lineDepth, func(r *wire.Reader) (all []wire.Member) {
		all = make([]wire.Member, 0, 24)
		r.Object(func(name string) { all = append(all, wire.Member{Name: name, Value: r.Value()}) })
		return all
	}) // it is an object
	return all
}

// find returns the value of the member name, or "".
func find(all []wire.Member, name string) string {
	i := slices.IndexFunc(all, func(m wire.Member) bool { return m.Name == name })
	if i < 0 {
		return ""
	}
	return all[i].Value
}

// Without returns object, which has no white space, without some members.
func Without(object string, names ...string) string {
	text := []byte{'{'}
	for _, m := range members(object) {
		if slices.Contains(names, m.Name) {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(wire.AppendQuote(text, m.Name), ':')
		text = append(text, m.Value...)
	}
	return string(append(text, '}'))
}
