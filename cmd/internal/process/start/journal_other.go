//go:build !linux

package start

import "errors"

// Journal is empty: there is no socket of systemd-journald.
const Journal = ""

// ErrNoJournal means that systemd-journald takes no output.
var ErrNoJournal = errors.New("there is no journal of systemd")

// CheckJournal returns ErrNoJournal.
func CheckJournal(string) error { return ErrNoJournal }

func openJournal(string, string) (int, error) { return -1, ErrNoJournal }

func inJournal(env []string, _ int) []string { return env }
