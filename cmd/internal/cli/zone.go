package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone returns the time zone that value, of flag, names, like Europe/Berlin, or the offset it is, like +02:00; if it is "",
// that of this process. Package time takes a $TZ that it does not know for UTC; here that is refused.
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
		return nil, Usagef("%s: want a time zone, like Europe/Berlin, or for the flag an offset, like +02:00, not %q", flag, value)
	}
	return zone, nil
}
