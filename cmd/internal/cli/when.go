package cli

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// When is a flag: a point in time.
type When string

// UnmarshalText sets w to text.
func (w *When) UnmarshalText(text []byte) error {
	*w = When(text)
	_, err := w.Time(time.Time{})
	return err
}

// Time returns the time that w means now: one of the files, a time of day, which is the last one
// before now, or how long ago it is.
func (w When) Time(now time.Time) (time.Time, error) {
	if t, err := wire.ParseTime(string(w)); err == nil {
		return t, nil
	}
	if d, err := ParseDuration(string(w), time.Millisecond); err == nil {
		return now.Add(-d), nil
	}
	for _, format := range []string{"15:04", "15:04:05", time.DateOnly} {
		t, err := time.Parse(format, string(w))
		if err != nil {
			continue
		}
		if format == time.DateOnly {
			return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local), nil
		}
		local := now.In(time.Local)
		t = time.Date(local.Year(), local.Month(), local.Day(), t.Hour(), t.Minute(), t.Second(), 0,
			time.Local)
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("want a time like 2026-01-20T09:30:00Z, 2026-01-20 or 09:30, or a "+
		"duration like 2h, not %q", string(w))
}
