package protocol

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// After the first error a decoder reads nothing more, and keeps that error.
func TestDecoderAfterTheFirstError(t *testing.T) {
	t.Parallel()
	const text = `{"a":{"b":["c"]}}`
	for name, read := range map[string]func(d *decoder) bool{
		"value":     func(d *decoder) bool { return d.value() == "" },
		"string":    func(d *decoder) bool { return d.string() == "" },
		"orNull":    func(d *decoder) bool { return d.orNull() == "" },
		"id":        func(d *decoder) bool { return d.id() == "" },
		"idOrNull":  func(d *decoder) bool { return d.idOrNull() == "" },
		"time":      func(d *decoder) bool { return d.time().IsZero() },
		"int":       func(d *decoder) bool { return d.int(0) == 0 },
		"intOrNull": func(d *decoder) bool { return d.intOrNull() == 0 },
		"bool":      func(d *decoder) bool { return !d.bool() },
		"null":      func(d *decoder) bool { return !d.null() },
		"object":    func(d *decoder) (ok bool) { ok = true; d.object(func(string) { ok = false }); return ok },
		"array":     func(d *decoder) (ok bool) { ok = true; d.array(func() { ok = false }); return ok },
		"fail":      func(d *decoder) bool { d.fail("second"); return true },
		"syntax":    func(d *decoder) bool { d.syntax(io.ErrUnexpectedEOF); return true },
	} {
		d := newDecoder(text, 0)
		d.fail("first")
		first := d.err
		if !read(d) {
			t.Errorf("%s: it returned something", name)
		}
		if d.err != first || d.dec.InputOffset() != 0 {
			t.Errorf("%s: got %v after %d bytes, want %v", name, d.err, d.dec.InputOffset(), first)
		}
	}
}

// A time that is no string is refused as that, where it is, by each reader.
func TestTimeThatIsNoString(t *testing.T) {
	t.Parallel()
	const text = `{"operationId": "op", "lastHeartbeat": 7}`
	_, decodeErr := Decode(text)
	_, _, peerErr := ReadPeer(text, PeerReading{Zone: time.UTC})
	for reader, err := range map[string]error{"Decode": decodeErr, "ReadPeer": peerErr} {
		e, ok := errors.AsType[*DecodeError](err)
		if !ok || !errors.Is(err, ErrCorrupt) || e.Path != "/lastHeartbeat" || !strings.Contains(e.Cause, "a string is expected") {
			t.Errorf("%s: got %v", reader, err)
		}
	}
}

// What nobody knows in the file of one host is passed over; nothing keeps it.
func TestSightingsWithUnknownMembers(t *testing.T) {
	t.Parallel()
	const known = `"bootId": "b", "seen": [{"bootId": "h", "monotonicMs": 1, "at": "2026-01-01T00:00:00.000Z", "firstSeenMs": 2`
	want, err := DecodeSightings(`{"protocolVersion": 1, ` + known + `}]}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSightings(`{"protocolVersion": 1, "x": [{}], ` + known + `, "y": {"z": null}}]}`)
	if err != nil || !got.Equal(want) || len(got.first) != 1 {
		t.Errorf("got %v\n%swant\n%s", err, got.Encode(), want.Encode())
	}
}
