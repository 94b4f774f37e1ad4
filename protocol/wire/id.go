package wire

import (
	"errors"
	"fmt"
)

// ErrBadID means that an id cannot name anything.
var ErrBadID = errors.New("bad id")

const maxID = 128

// CheckID returns nil if id can name an operation, call, participant, supervisor, service or group
// (spec §1.1), and an error that wraps ErrBadID otherwise. An id has 1 to 128 of the characters
// A-Z a-z 0-9 . _ : -, begins with a letter or digit, and does not contain "..": it is safe as part
// of a file name.
func CheckID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: it is empty", ErrBadID)
	case len(id) > maxID:
		return fmt.Errorf("%w %.20q...: longer than %d characters", ErrBadID, id, maxID)
	case !isAlnum(id[0]):
		return fmt.Errorf("%w %q: it must begin with a letter or digit", ErrBadID, id)
	}

	for i := 1; i < len(id); i++ {
		c := id[i]
		if !isAlnum(c) && c != '.' && c != '_' && c != ':' && c != '-' {
			return fmt.Errorf("%w %q: only letters, digits and . _ : - may occur", ErrBadID, id)
		}
		if c == '.' && id[i-1] == '.' {
			return fmt.Errorf("%w %q: %q may not occur", ErrBadID, id, "..")
		}
	}

	return nil
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
