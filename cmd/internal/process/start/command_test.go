package start

import (
	"bufio"
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
)

func decode(b []byte) (Command, error) {
	return readCommand(bufio.NewReader(bytes.NewReader(b)))
}

func TestStart(t *testing.T) {
	for _, want := range []Command{
		{Argv: []string{"a"}},
		{Argv: []string{"", "\xff\n", ""}, Env: []string{"", "A=\xfe"}, Dir: "/", Log: "log\n"},
		{Argv: []string{strings.Repeat("x", 300)}, Env: make([]string, 200), Log: "/dev/null",
			Latest: 1<<63 - 1, Journal: "dpl/g/a"},
		{Argv: []string{"a"}, Context: group.Context{Umask: group.Number{N: 0o27, Set: true},
			Nice: group.Number{N: -5, Set: true}, OOMScoreAdj: group.Number{Set: true}}},
	} {
		b := want.encode()
		if got, err := decode(b); !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}

		for n := range b {
			if got, err := decode(b[:n]); err == nil {
				t.Errorf("%d bytes of %d: got %+v, want an error", n, len(b), got)
			}
		}
	}
}

func TestStartOfNothing(t *testing.T) {
	if got, err := decode(Command{Env: []string{"A=1"},
		Dir: "/"}.encode()); err != io.ErrUnexpectedEOF {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever it reads it writes again, and nothing makes it panic.
func FuzzStart(f *testing.F) {
	f.Add(Command{Argv: []string{"a", ""}, Env: []string{"B=1"}, Dir: "/", Log: "log"}.encode())
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decode(b)
		if err != nil {
			return
		}
		if again, err := decode(s.encode()); !reflect.DeepEqual(again, s) || err != nil {
			t.Errorf("got %+v, %v, want %+v", again, err, s)
		}
	})
}
