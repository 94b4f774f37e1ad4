package runner

import "time"

// after returns the time d after t, or zero if d is 0.
func after(t time.Time, d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return t.Add(d)
}

// earliest returns the earliest of times, ignoring zeros. It returns a time in an hour at the
// latest.
func earliest(times ...time.Time) time.Time {
	first := time.Now().Add(time.Hour)
	for _, t := range times {
		if !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}
