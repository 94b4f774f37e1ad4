package dart

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the vectors name time zones

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
	"github.com/go-json-experiment/json/jsontext"
)

// vector is one file of spec/vectors/peer (spec/peer.md).
type vector struct {
	Comment   string            `json:"comment"`
	Section   string            `json:"section"`
	Given     json.RawMessage   `json:"given"`
	GivenText *string           `json:"givenText"`
	Zone      string            `json:"zone"`
	ID        string            `json:"id"`
	Rename    map[string]string `json:"rename"`
	Roots     []string          `json:"roots"`
	Then      json.RawMessage   `json:"then"`
	Left      []string          `json:"left"`
	Refused   string            `json:"refused"`
	Path      string            `json:"path"`
}

func (v *vector) given() string {
	if v.GivenText != nil {
		return *v.GivenText
	}
	return string(v.Given)
}

func (v *vector) reading(t testing.TB) Reading {
	zone, err := time.LoadLocation(v.Zone)
	if moment, offsetErr := time.Parse("-07:00", v.Zone); offsetErr == nil {
		zone, err = moment.Location(), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return Reading{ID: v.ID, Rename: v.Rename, Zone: zone, Refuse: insideOf(v.Roots)}
}

// insideOf refuses paths that are in none of roots.
func insideOf(roots []string) func(op, path string) error {
	return func(_, path string) error {
		if slices.ContainsFunc(roots,
			func(root string) bool { return strings.HasPrefix(path, root+"/") }) {
			return nil
		}
		return fmt.Errorf("%q: no root has it", path)
	}
}

func TestVectors(t *testing.T) {
	for _, file := range vectors.Files(t, "../..", "peer", 50) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v vector
			vectors.Read(t, file, &v)
			v.run(t)
		})
	}
}

func (v *vector) run(t *testing.T) {
	op, left, err := Read(v.given(), v.reading(t))
	if v.Refused != "" {
		v.checkRefused(t, err)
		return
	}

	if err != nil {
		t.Fatal(err)
	}

	encoded, want := op.Encode(), string(v.Then)
	if got, want := canonical(t, encoded), canonical(t, want); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if place := vectors.Lost(t, want, encoded); place != "" {
		t.Errorf("what is written has another value, or none, at %s:\n%s", place, encoded)
	}
	vectors.CheckKeeps(t, want, encoded, vectors.OperationShape)
	var paths []string

	for _, l := range left {
		paths = append(paths, l.Path)
		if !strings.HasPrefix(l.Error, fmt.Sprintf("%q: ", l.Path)) {
			t.Errorf("the reason does not begin with the path %q: %s", l.Path, l.Error)
		}
	}

	if !slices.Equal(paths, v.Left) {
		t.Errorf("left %q, want %q", paths, v.Left)
	}
}

// canonical returns the text of the operation in text, with nothing copied from it.
func canonical(t *testing.T, text string) string {
	t.Helper()
	compact := jsontext.Value(text)
	if err := compact.Compact(); err != nil {
		t.Fatal(err)
	}

	op, err := protocol.Decode(string(compact))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return op.Encode()
}

func (v *vector) checkRefused(t *testing.T, err error) {
	want := map[string]error{"corrupt": wire.ErrCorrupt, "badID": wire.ErrBadID,
		"localTime": ErrLocalTime,
		"notPeer":   ErrNotDart}[v.Refused]
	e, ok := errors.AsType[*wire.Error](err)
	if want == nil || !ok || !errors.Is(err, want) {
		t.Fatalf("refused: %v, want %q", err, v.Refused)
	}
	if e.Path != v.Path {
		t.Errorf("path %q, want %q: %v", e.Path, v.Path, err)
	}
}

// FuzzRead checks that the result is an operation that Decode accepts unchanged, with every
// unknown member of the file.
func FuzzRead(f *testing.F) {
	for _, file := range vectors.Files(f, "../..", "peer", 50) {
		var v vector
		vectors.Read(f, file, &v)
		f.Add(v.given())
	}

	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}

	reading := Reading{Zone: zone, Refuse: insideOf([]string{"/data"})}
	f.Fuzz(func(t *testing.T, text string) {
		op, left, err := Read(text, reading)
		if err != nil {
			if _, ok := errors.AsType[*wire.Error](err); !ok {
				t.Errorf("%T: %v", err, err)
			}
			return
		}

		encoded := op.Encode()
		if got := canonical(t, encoded); got != encoded {
			t.Errorf("decoded, it is\n%s, was\n%s", got, encoded)
		}

		for _, l := range left {
			if !strings.Contains(encoded, quote(l.Path)) {
				t.Errorf("%q is lost:\n%s", l.Path, encoded)
			}
		}

		checkKeeps(t, text, encoded)
	})
}

// checkKeeps checks that each member of the root and of the frames in text is in encoded, under
// its own name or under peer.
func checkKeeps(t *testing.T, text, encoded string) {
	given, made := vectors.ParseNode(t, text), vectors.ParseNode(t, encoded)
	checkMembersKept(t, given, made, "operationState callFrames stack")
	for i, name := range given.Names {
		if name != "callFrames" && name != "stack" || given.Members[i].Text == "null" {
			continue
		}
		stack := member(made, "stack")
		for n, frame := range given.Members[i].Members {
			checkMembersKept(t, frame, stack.Members[n], "")
		}
	}
}

func checkMembersKept(t *testing.T, given, made vectors.Node, others string) {
	kept := member(made, "peer")
	for i, name := range given.Names {
		value := given.Members[i].Text
		known := slices.Contains(strings.Fields(others), name) ||
			slices.Contains(made.Names, name) && name != "peer"
		isDefault := slices.Contains([]string{"null", "[]", "true", `""`}, value)
		if !known && !isDefault && !slices.Contains(kept.Names, name) {
			t.Errorf("%q is lost: %s", name, made.Text)
		}
	}
}

func member(n vectors.Node, name string) vectors.Node {
	if i := slices.Index(n.Names, name); i >= 0 {
		return n.Members[i]
	}
	return vectors.Node{}
}

// A time that is no string is refused as that, where it is.
func TestTimeThatIsNoString(t *testing.T) {
	t.Parallel()
	const text = `{"operationId": "op", "lastHeartbeat": 7}`
	_, _, err := Read(text, Reading{Zone: time.UTC})
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || !errors.Is(err, wire.ErrCorrupt) || e.Path != "/lastHeartbeat" ||
		!strings.Contains(e.Cause, "a string is expected") {
		t.Errorf("got %v", err)
	}
}
