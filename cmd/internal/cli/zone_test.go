package cli

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func TestZone(t *testing.T) {
	summer := time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		tz, flag string
		hours    float64
	}{
		{"UTC", "Europe/Berlin", 2}, {"UTC", "+05:30", 5.5}, {"UTC", "-03:00", -3},
		{"UTC", "UTC", 0},
		{"Europe/Berlin", "", 2}, {":Europe/Berlin", "", 2}, {"Asia/Tokyo", "UTC", 0},
	} {
		t.Setenv("TZ", c.tz)
		zone, err := Zone("--time-zone", c.flag)
		if err != nil {
			t.Errorf("TZ=%s, flag %q: %v", c.tz, c.flag, err)
			continue
		}

		if _, got := summer.In(zone).Zone(); float64(got) != c.hours*3600 {
			t.Errorf("TZ=%s, flag %q: got %d s east of UTC, want %v h", c.tz, c.flag, got, c.hours)
		}
	}

	for _, c := range [][2]string{{"UTC", "Berlin"}, {"CET-1CEST", ""}, {"Nowhere", ""},
		{"+02:00", ""}, {"UTC", "+2"}} {
		t.Setenv("TZ", c[0])
		if zone, err := Zone("--time-zone", c[1]); StatusOf(err) != StatusUsage {
			t.Errorf("TZ=%s, flag %q: got %v, %v, want a usage error", c[0], c[1], zone, err)
		}
	}

	t.Setenv("TZ", "/etc/localtime")
	if zone, err := Zone("--time-zone", ""); zone != time.Local || err != nil {
		t.Errorf("a file: got %v, %v, want that of this process", zone, err)
	}
}
