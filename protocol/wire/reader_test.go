package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// After the first failure a reader reads nothing more, calls no function, and keeps that failure.
func TestReaderAfterTheFirstFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		read func(r *Reader) bool
	}{
		{`"c"`, func(r *Reader) bool { return r.Value() == "" }},
		{`"c"`, func(r *Reader) bool { return r.String() == "" }},
		{`7`, func(r *Reader) bool { return r.Int(0) == 0 }},
		{`true`, func(r *Reader) bool { return !r.Bool() }},
		{`null`, func(r *Reader) bool { return !r.Null() }},
		{`{"a":1}`, func(r *Reader) (ok bool) { ok = true; r.Object(func(string) { ok = false }); return ok }},
		{`[1]`, func(r *Reader) (ok bool) { ok = true; r.Array(func() { ok = false }); return ok }},
		{`[1]`, func(r *Reader) bool { r.Fail(ErrCorrupt, "second"); return true }},
		{`[1]`, func(r *Reader) bool { r.End(); return true }},
	} {
		r := NewReader(c.text, 0)
		r.Fail(ErrCorrupt, "first")
		if !c.read(r) || r.failure.cause != "first" || !r.Failed() {
			t.Errorf("%s is read after %v", c.text, r.Err())
		}
	}
}

// Nothing more of an object or array is read after a callback has refused something.
func TestReaderStops(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":1,"b":2,"c":3}`, `[1,2,3]`} {
		r, calls := NewReader(text, 0), 0
		element := func() {
			if calls++; r.Int(2) == 0 && calls > 1 {
				t.Errorf("%s: it goes on", text)
			}
		}

		if text[0] == '{' {
			r.Object(func(string) { element() })
		} else {
			r.Array(element)
		}

		if r.failure == nil || r.failure.in(text).Path != map[byte]string{'{': "/a",
			'[': "/0"}[text[0]] {
			t.Errorf("%s: %v", text, r.Err())
		}
	}
}

// An object is read as it is, however it differs from the one before it in the same place.
func TestReaderLayouts(t *testing.T) {
	t.Parallel()
	const text = `[{"a":1,"b":{"x":1}},{"a":2,"b":{"x":2}},{"a":3},{"a":4,"b":{"x":4},"c":5},{},{"b":{"x":6,"y":7},"a":8},
		{ "b":{"x":9,"y":10}, "a" : 11 }, { "b":{"x":12}, "a" : 13 }]`
	const want = "a 1 b x 1 a 2 b x 2 a 3 a 4 b x 4 c 5 b x 6 y 7 a 8 b x 9 y 10 a 11 b x 12 a 13 "

	var got strings.Builder
	r := NewReader(text, 0)
	var member func(name string)
	member = func(name string) {
		got.WriteString(name + " ")
		if name == "b" {
			r.Object(member)
		} else {
			fmt.Fprint(&got, r.Int(0), " ")
		}
	}

	r.Array(func() { r.Object(member) })
	if r.End(); r.Failed() || got.String() != want {
		t.Errorf("got %q, %v, want %q", got.String(), r.Err(), want)
	}
}

// A large object may have the names of the one before, after another.
func TestReaderOfLargeObjects(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `,"m%d":1`, i)
	}

	text := `[{"a":1` + many.String() + `},{"b":1` + many.String() + `},{"b":1` + many.String() +
		`}]`
	r := NewReader(text, 0)
	if got := r.Value(); got != text {
		t.Errorf("%v", r.Err())
	}
}

// A member that occurs twice is refused: in an object like the one before, in one that begins like
// it, and in a large one.
func TestReaderRefusesDuplicates(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"m%d":1,`, i)
	}

	for _, text := range []string{
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"":1,"":2}`, `[{"a":1,"b":1},{"a":1,"b":1,"a":1}]`,
		`[{"a":1,"b":1},{"a":1,"a":1}]`, `[{"a":1,"b":1},{"b":1,"b":1}]`,
		`[{"a":1},{"b":1},{"b":1,"b":1}]`,
		`{` + many.String() + `"m7":2}`, `{` + many.String() + `"m99":2}`,
		`[{` + many.String() + `"x":2},{` + many.String() + `"m40":2}]`,
	} {
		r := NewReader(text, 0)
		if r.Value(); r.failure == nil || !r.failure.syntax {
			t.Errorf("%.60s: %v", text, r.Err())
		}
		if err := CheckSyntax(text); err == nil || !strings.Contains(err.Error(), "duplicate") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// FuzzReader: a Reader takes the texts that jsontext takes, except those that are nested too deep,
// and unquotes strings as it does.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		``, ` `, `{}`, ` [ ] `, `{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{,}`,
		`{"a":1 "b":2}`, `{1:2}`,
		`tru`, `truex`, `nulll`, `[true,false,null]`, `0`, `-0`, `01`, `-`, `1.`, `1.5`, `1e`,
		`1e5`, `1E-5`, `.5`, `+1`,
		`"\ud800"`, `"\ud83d\ude00"`, `"\u00e9"`, `"é"`, "\"\xff\"", "\"\x00\"", `"\x"`, `"\`,
		`"abc`, `"abcdefgh\n"`, `"abc\ndefgh"`, "\"abcdefg\xff\"", `"abcdefé"`, `"\\"`, `"\""`,
		"\"abcdefg\x1f\"", "\"\x7f\"", "\ufeff{}", "{}\x00", `{"a":{"b":[1,{"c":2}]},"d":"e"}`,
		`[{"a":1},{"a":1},{"a":1,"a":2}]`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64),
		strings.Repeat("[", 65) + strings.Repeat("]", 65),
	} {
		f.Add(text)
	}

	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader(text, 0)
		value := r.Value()
		r.End()
		valid := jsontext.Value(text).IsValid()

		switch deep := CheckDepth(text, 0) != nil; {
		case r.Failed() != (deep || !valid):
			t.Fatalf("%q: %v, jsontext: %v", text, r.Err(), valid)
		case r.Failed() && r.failure.syntax != !valid && !deep:
			t.Fatalf("%q: %v", text, r.Err())
		case !valid:
			if err := CheckSyntax(text); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		case r.Failed():
			return
		}

		if err := CheckSyntax(text); err != nil || strings.Trim(text, whiteSpace) != value {
			t.Fatalf("%q: %q, %v", text, value, err)
		}

		if value[0] == '"' {
			want, _ := jsontext.AppendUnquote(nil, value)
			if got := NewReader(text, 0).String(); got != string(want) {
				t.Fatalf("%q: got %q, want %q", text, got, want)
			}
		}
	})
}

// FuzzAppendQuote: a string is written as jsontext does.
func FuzzAppendQuote(f *testing.F) {
	for _, s := range []string{"", "a", "abcdefgh", "abcdefg\"", "abc\"defgh", "abcdef\\g",
		"abcdefé", "a\\", "é", "\xff", "<&>", "\x7f", "12345678\n"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		want, _ := jsontext.AppendQuote(nil, s)
		if got := AppendQuote(nil, s); string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "123456789012345678": 123456789012345678,
		"9223372036854775807": 9223372036854775807,
		"999999999999999999":  999999999999999999, "1000000000000000000": 1000000000000000000,
	} {
		r := NewReader(text, 0)
		if got := r.Int(0); got != want || r.Failed() {
			t.Errorf("%s: got %d, %v", text, got, r.Err())
		}
	}

	for _, text := range []string{"-1", "-0", "1.0", "1e3", "9223372036854775808", `"1"`, "null",
		"[]", "123456789012345678.5"} {
		r := NewReader(text, 0)
		if r.Int(0); r.failure == nil || r.failure.syntax {
			t.Errorf("%s: %v", text, r.Err())
		}
	}

	r := NewReader("4", 0)
	if r.Int(5); r.failure == nil || r.failure.cause != "an integer of at least 5 is expected, "+
		"not 4" {
		t.Errorf("4: %v", r.Err())
	}
}

// The space around names may differ between objects that are otherwise alike.
func TestSpaceDiffers(t *testing.T) {
	for _, text := range []string{
		`{"a":[{"b":1},{"b": 1}]}`, `{"a":[{"b": 1},{"b":1}]}`, "{\"a\":[{\"b\":1}, { \"b\" :\n1}]}",
	} {
		r := NewReader(text, 0)
		sum := int64(0)
		r.Object(func(string) {
			r.Array(func() { r.Object(func(string) { sum += r.Int(0) }) })
		})
		if r.End(); r.Err() != nil || sum != 2 {
			t.Errorf("%s: %d, %v", text, sum, r.Err())
		}
	}
}

// A layout is only a hint: with that of any other valid file, a reader finds the same names and
// refuses the same texts as without.
func TestLayoutOfAnotherFile(t *testing.T) {
	t.Parallel()
	texts := []string{
		`{"a":1,"b":[{"c":1},{"c":2}]}`, `{"a": 1, "b": [{"c": 1}]}`, `{"b":[{"c":1,"d":2}],"a":1}`,
		`{"a":1,"a":2}`, `{"a":1,"b":[{"c":1,"c":2}]}`, `{"a":1}`, `{}`, `{"a":1,"b":[{"c":1}],"e":{"a":1}}`,
	}
	names := func(text string, known *layout) string {
		var said strings.Builder
		r := newReader(text, 0, known)
		var value func(name string)
		value = func(name string) {
			said.WriteString(name + " ")
			switch r.peek() {
			case '{':
				r.Object(value)
			case '[':
				r.Array(func() { value("-") })
			default:
				r.Int(0)
			}
		}

		value("")
		r.End()
		return fmt.Sprint(r.Failed(), " ", said.String())
	}

	for _, first := range texts {
		for _, second := range texts {
			known := &layout{}
			if strings.HasPrefix(names(first, known), "true") {
				continue // Decode does not keep the layout of a refused text
			}
			if got, want := names(second, known), names(second, &layout{}); got != want {
				t.Errorf("%s after %s: got %s, want %s", second, first, got, want)
			}
		}
	}
}
