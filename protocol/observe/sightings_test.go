package observe

import "testing"

// Unknown members in the file of one host are ignored and not kept.
func TestSightingsWithUnknownMembers(t *testing.T) {
	t.Parallel()
	const known = `"bootId": "b", "seen": [{"bootId": "h", "monotonicMs": 1, "at": "2026-01-01T00:00:00.000Z", "firstSeenMs": 2`
	want, err := DecodeSightings(`{"protocolVersion": 1, ` + known + `}]}`)
	if err != nil {
		t.Fatal(err)
	}

	got, err := DecodeSightings(`{"protocolVersion": 1, "x": [{}], ` + known +
		`, "y": {"z": null}}]}`)
	if err != nil || !got.Equal(want) || len(got.first) != 1 {
		t.Errorf("got %v\n%swant\n%s", err, got.Encode(), want.Encode())
	}
}
