package vectors

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Fill gives each exported field that record points to a value other than zero, except those of
// these names. It leaves Unknown out.
func Fill[T any](record *T, except ...string) *T {
	fill(reflect.ValueOf(record).Elem(), append(except, "Unknown"))
	return record
}

func fill(v reflect.Value, except []string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(3 * time.Millisecond))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), except)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), except)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && !slices.Contains(except, v.Type().Field(i).Name) {
				fill(f, except)
			}
		}
	}
}

// CheckMembers checks that the objects in texts, which are all that a record can write, have the
// members that the schema names at place, such as $defs/task/properties: all of them together, no
// others, none twice, and in its order. root is the path of the module.
func CheckMembers(t *testing.T, root, schema, place string, texts ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "spec", schema+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}

	want := names(t, inside(t, string(data), strings.Split(place, "/")...))
	found := make(map[string]bool)
	for _, text := range texts {
		last := -1
		for _, name := range names(t, text) {
			at := slices.Index(want, name)
			switch {
			case at < 0:
				t.Errorf("%s: %s: the schema has no %s", schema, place, name)
			case at < last:
				t.Errorf("%s: %s: %s is written after %s", schema, place, name, want[last])
			default:
				last = at
			}
			found[name] = true
		}
	}
	for _, name := range want {
		if !found[name] {
			t.Errorf("%s: %s: %s is not written", schema, place, name)
		}
	}
}

// inAnyOrder checks that text is read as it is with its members in another order.
func (c SchemaCheck) inAnyOrder(t *testing.T, name, text string) {
	t.Helper()
	again := func(text string) string {
		v := jsontext.Value(text)
		if err := v.Indent(jsontext.WithIndent("\t")); err != nil { // so that nothing is copied
			t.Fatal(err)
		}
		written, err := c.again(string(v))
		if err != nil {
			t.Errorf("%s: with its members in another order: %v: %s", name, err, text)
		}
		return canonical(written)
	}

	orders := rand.New(rand.NewPCG(1, uint64(len(text))))
	want := again(text)
	for range 2 {
		if other := shuffled(t, text, orders); again(other) != want {
			t.Errorf("%s: it is not read alike as %s", name, other)
		}
	}
}

// shuffled returns text with the members of all objects in another order.
func shuffled(t *testing.T, text string, orders *rand.Rand) string {
	t.Helper()
	switch text = strings.TrimSpace(text); text[0] {
	case '{':
		members := object(t, text)
		orders.Shuffle(len(members), func(i, j int) {
			members[i], members[j] = members[j], members[i]
		})
		all := make([]string, len(members))
		for i, m := range members {
			name, _ := jsontext.AppendQuote(nil, m.name)
			all[i] = string(name) + ":" + shuffled(t, m.value, orders)
		}
		return "{" + strings.Join(all, ",") + "}"
	case '[':
		var all []string
		d := jsontext.NewDecoder(strings.NewReader(text))
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for d.PeekKind() != ']' {
			value, err := d.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, shuffled(t, string(value), orders))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return text
}

func canonical(text string) string {
	v := jsontext.Value(text)
	if v.Canonicalize() != nil {
		return text
	}
	return string(v)
}

// inside returns the value at path in the object text.
func inside(t *testing.T, text string, path ...string) string {
	t.Helper()
	for _, name := range path {
		members := object(t, text)
		i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		text = members[i].value
	}
	return text
}

func names(t *testing.T, text string) (all []string) {
	t.Helper()
	for _, m := range object(t, text) {
		all = append(all, m.name)
	}
	return all
}

type member struct{ name, value string }

// object returns the members of an object in their order.
func object(t *testing.T, text string) (members []member) {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(text)) // which refuses a name that occurs twice
	token := func() jsontext.Token {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatalf("%.200s: %v", text, err)
		}
		return token
	}

	for token(); d.PeekKind() != '}'; {
		name := token().String()
		value, err := d.ReadValue()
		if err != nil {
			t.Fatalf("%.200s: %v", text, err)
		}
		members = append(members, member{name, string(value)})
	}
	return members
}
