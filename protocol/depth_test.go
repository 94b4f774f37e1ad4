package protocol

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/wire"
)

// nested returns n arrays that lie in each other.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// A file may be nested 64 deep and no deeper, in all its objects, however it is laid out: also
// where parts of it are read by themselves.
func TestDepth(t *testing.T) {
	const at = `"2026-01-20T10:30:00.000Z"`
	operation := func(root, frame, supervisor, transition, event string) string {
		return fmt.Sprintf(`{"operationId":"o","state":"running","lastHeartbeat":%s,`+
			`"stack":[{"participantId":"p","callId":"c","lastHeartbeat":%[1]s%[3]s}],`+
			`"supervisorHeartbeats":{"s":{"lastHeartbeat":%[1]s%[4]s}},`+
			`"transitions":[{"revision":1%[5]s}],`+
			`"events":[{"revision":1,"at":%[1]s,"type":"callState"%[6]s}]%[2]s}`,
			at, root, frame, supervisor, transition, event)
	}

	places := map[string]struct {
		within int
		text   func(x string) string
	}{
		"root":       {1, func(x string) string { return operation(x, "", "", "", "") }},
		"frame":      {3, func(x string) string { return operation("", x, "", "", "") }},
		"supervisor": {3, func(x string) string { return operation("", "", x, "", "") }},
		"transition": {3, func(x string) string { return operation("", "", "", x, "") }},
		"event":      {3, func(x string) string { return operation("", "", "", "", x) }},
	}

	for name, place := range places {
		text := place.text(`,"x":` + nested(wire.MaxDepth-place.within))
		op, err := Decode(text)
		if err != nil {
			t.Fatalf("%s, at the limit: %v", name, err)
		}

		laidOut := op.Encode()
		for _, text := range []string{text, laidOut} {
			_, err := Decode(strings.ReplaceAll(text, "[]", "[{}]"))
			if !errors.Is(err, wire.ErrCorrupt) || err.Error() != "it is nested more than 64 deep" {
				t.Errorf("%s, above the limit: %v", name, err)
			}
		}
	}
}

// However much of a file is unknown, an edit does not make it many times as long.
func TestUnknownMembersStaySmall(t *testing.T) {
	const mostLaid = 64 << 10 // of package wire
	deep := strings.Repeat("[", 40) + strings.Repeat("1,", 1<<20) + "1" + strings.Repeat("]", 40)
	member := func(i int) string {
		return fmt.Sprintf(`,"x%d":%s`, i, deep[:40]+strings.Repeat("1,", 400)+deep[len(deep)-41:])
	}

	var many strings.Builder
	for i := range 1000 {
		many.WriteString(member(i))
	}

	for _, members := range []string{`,"x":` + deep, many.String()} {
		text := `{"operationId":"o","state":"running","stack":[],` +
			`"lastHeartbeat":"2026-01-20T10:30:00.000Z"` + members + `}`
		op, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}

		once := op.Encode()
		if len(once) > len(text)+wire.MaxDepth*mostLaid {
			t.Errorf("%d bytes have become %d", len(text), len(once))
		}

		again, err := Decode(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice := again.Encode(); twice != once {
			t.Errorf("%d bytes have become %d once more", len(once), len(twice))
		}
	}
}
