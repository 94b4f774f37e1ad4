package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone returns the time zone called value, such as Europe/Berlin, or the offset value, such as
// +02:00. If value is "", it returns the local time zone. Package time takes an unknown $TZ for
// UTC; Zone returns an error. flag is for messages.
func Zone(flag, value string) (*time.Location, error) {
	if value == "" {
		flag, value = "$TZ", strings.TrimPrefix(os.Getenv("TZ"), ":")
		if value == "" || filepath.IsAbs(value) {
			return time.Local, nil
		}
	} else if t, err := time.Parse("-07:00", value); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(value, offset), nil
	}

	zone, err := time.LoadLocation(value)
	if err != nil {
		return nil, Usagef("%s: want a time zone, like Europe/Berlin, or for the flag an offset, "+
			"like +02:00, not %q", flag, value)
	}

	return zone, nil
}
