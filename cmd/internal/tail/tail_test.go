package tail

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The end of a long output is kept, and all of it is passed on, as far as possible.
func TestTail(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	end := &Tail{To: &all}
	var want []byte
	for i := range 5000 {
		line := fmt.Appendf(nil, "line %d\n", i)
		want = append(want, line...)
		if n, err := end.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := end.String(); got != string(want[len(want)-Most:]) || all.String() != string(want) {
		t.Errorf("got %d bytes, %d passed on", len(got), all.Len())
	}
	if cap(end.text) > 4*Most {
		t.Errorf("%d bytes are kept", cap(end.text))
	}

	closed := &Tail{To: broken{}}
	if n, err := closed.Write([]byte("x")); n != 1 || err != nil || closed.String() != "x" {
		t.Errorf("got %d, %v, %q", n, err, closed)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }
