package entry

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// version, commit and date are set by the Makefile.
var version, commit, date string

// A Build says from what this program was built. Commit is the beginning of the hash, and Date is
// when that was committed, such as 2026-01-31T12:00:00Z. Both are "" if they are unknown.
type Build struct {
	Version, Commit, Date, Go string
}

// Version returns the build that the Makefile has linked in, or else what Go knows of it.
func Version() Build {
	b := Build{version, commit, date, runtime.Version()}
	if b.Version != "" {
		return b
	}

	b.Version = "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(len(s.Value), hash)]
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

// hash is how many digits of a commit's hash are shown.
const hash = 12

// String returns b in one line: v0.1.0 (commit 0123456789ab, 2026-01-31, go1.26.0).
func (b Build) String() string {
	text := b.Version + " ("
	if b.Commit != "" {
		text += "commit " + b.Commit + ", "
	}
	if day, _, _ := strings.Cut(b.Date, "T"); day != "" {
		text += day + ", "
	}
	return text + b.Go + ")"
}
