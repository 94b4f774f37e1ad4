package protocol

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
)

// peerVector is one file of spec/vectors/peer (spec/peer.md).
type peerVector struct {
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

func (v *peerVector) given() string {
	if v.GivenText != nil {
		return *v.GivenText
	}
	return string(v.Given)
}

func (v *peerVector) reading(t testing.TB) PeerReading {
	zone, err := time.LoadLocation(v.Zone)
	if moment, offsetErr := time.Parse("-07:00", v.Zone); offsetErr == nil {
		zone, err = moment.Location(), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return PeerReading{ID: v.ID, Rename: v.Rename, Zone: zone, Refuse: insideOf(v.Roots)}
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

func TestPeerVectors(t *testing.T) {
	files, err := filepath.Glob("../spec/vectors/peer/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("found %d vectors of the peer (%v), want at least 50", len(files), err)
	}

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			var v peerVector
			readVector(t, file, &v)
			v.run(t)
		})
	}
}

func (v *peerVector) run(t *testing.T) {
	op, left, err := ReadPeer(v.given(), v.reading(t))
	if v.Refused != "" {
		v.checkRefused(t, err)
		return
	}

	if err != nil {
		t.Fatal(err)
	}

	whole := vector{Then: v.Then}
	whole.checkAfter(t, op)
	checkKeeps(t, string(v.Then), op.Encode(), operationShape)
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

func (v *peerVector) checkRefused(t *testing.T, err error) {
	want := map[string]error{"corrupt": ErrCorrupt, "badID": ErrBadID, "localTime": ErrLocalTime,
		"notPeer": ErrNotPeer}[v.Refused]
	e, ok := errors.AsType[*DecodeError](err)
	if want == nil || !ok || !errors.Is(err, want) {
		t.Fatalf("refused: %v, want %q", err, v.Refused)
	}
	if e.Path != v.Path {
		t.Errorf("path %q, want %q: %v", e.Path, v.Path, err)
	}
}

// FuzzReadPeer checks that the result is an operation that Decode accepts unchanged, with every
// unknown member of the file.
func FuzzReadPeer(f *testing.F) {
	files, err := filepath.Glob("../spec/vectors/peer/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no vectors: %v", err)
	}

	for _, file := range files {
		var v peerVector
		readVector(f, file, &v)
		f.Add(v.given())
	}

	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}

	reading := PeerReading{Zone: zone, Refuse: insideOf([]string{"/data"})}
	f.Fuzz(func(t *testing.T, text string) {
		op, left, err := ReadPeer(text, reading)
		if err != nil {
			if _, ok := errors.AsType[*DecodeError](err); !ok {
				t.Errorf("%T: %v", err, err)
			}
			return
		}

		encoded := op.Encode()
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("%v:\n%s", err, encoded)
		}
		if got := canonical(again); got != encoded {
			t.Errorf("decoded, it is\n%s, was\n%s", got, encoded)
		}

		for _, l := range left {
			if !strings.Contains(encoded, quoted(l.Path)) {
				t.Errorf("%q is lost:\n%s", l.Path, encoded)
			}
		}

		checkPeerKeeps(t, text, encoded)
	})
}

// checkPeerKeeps checks that each member of the root and of the frames in text is in encoded, under
// its own name or under peer.
func checkPeerKeeps(t *testing.T, text, encoded string) {
	given, made := parseNode(t, text), parseNode(t, encoded)
	checkMembersKept(t, given, made, "operationState callFrames stack")
	for i, name := range given.names {
		if name != "callFrames" && name != "stack" || given.members[i].text == "null" {
			continue
		}
		stack := made.member("stack")
		for n, frame := range given.members[i].members {
			checkMembersKept(t, frame, stack.members[n], "")
		}
	}
}

func checkMembersKept(t *testing.T, given, made node, others string) {
	peer := made.member("peer")
	for i, name := range given.names {
		value := given.members[i].text
		known := slices.Contains(strings.Fields(others), name) ||
			slices.Contains(made.names, name) && name != "peer"
		isDefault := slices.Contains([]string{"null", "[]", "true", `""`}, value)
		if !known && !isDefault && !slices.Contains(peer.names, name) {
			t.Errorf("%q is lost: %s", name, made.text)
		}
	}
}

func (n node) member(name string) node {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.members[i]
	}
	return node{}
}
