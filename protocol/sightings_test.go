package protocol

import "testing"

// vectorSightings is what is remembered of a file (spec §7, §18).
type vectorSightings struct {
	BootID string `json:"bootId"`
	Seen   []struct {
		BootID      string `json:"bootId"`
		MonotonicMs int64  `json:"monotonicMs"`
		At          string `json:"at"`
		FirstSeenMs int64  `json:"firstSeenMs"`
	} `json:"seen"`
}

func (v vectorSightings) sightings(t *testing.T) Sightings {
	s := Sightings{bootID: v.BootID, first: make(map[Beat]int64)}
	for _, one := range v.Seen {
		at, err := ParseTime(one.At)
		if err != nil {
			t.Fatal(err)
		}
		s.first[Beat{BootID: one.BootID, MonotonicMs: one.MonotonicMs, At: at}] = one.FirstSeenMs
	}

	return s
}

// sighted gives seen what is remembered after sight, as a ledger does before an edit.
func (seen *Observation) sighted(sight func(Sightings) Sightings) {
	if seen.Sightings != nil && seen.Remembers() {
		now := sight(*seen.Sightings)
		seen.Sightings = &now
	}
}

// check compares v, unless it is nil, with what a ledger stores after an edit observed as seen, and
// with the result of decoding that again.
func (v *vectorSightings) check(t *testing.T, seen Observation, sight func(Sightings) Sightings) {
	if v == nil {
		return
	}
	if seen.Sightings == nil {
		t.Fatal("remembered without sightings")
	}

	seen.sighted(sight)
	got, want := *seen.Sightings, v.sightings(t)
	if !got.Equal(want) {
		t.Errorf("remembered:\n%swant:\n%s", got.Encode(), want.Encode())
	}
	if again, err := DecodeSightings(got.Encode()); err != nil || !again.Equal(got) {
		t.Errorf("decoded again (%v):\n%s", err, again.Encode())
	}
}
