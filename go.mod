module github.com/dpl-project/dpl

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0 // flags, declared once: help, manual pages, completions and errors follow
	github.com/anishathalye/porcupine v1.3.1 // tests alone: whether a history of many processes is one of an atomic ledger
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // its jsontext: strict JSON that keeps what it does not know as it is
	github.com/gofrs/flock v0.13.1 // the lock, on every system
	github.com/mattn/go-runewidth v0.0.31 // columns of text, for dpl-status
	github.com/natefinch/atomic v1.0.1 // the rename that replaces, on Linux and Windows; no path leads through a descriptor elsewhere
	github.com/rogpeppe/go-internal v1.16.0 // testscript, for tests; its diff, for --dry-run
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests alone: the schema against the vectors
	golang.org/x/sys v0.49.0 // pidfd, inotify, clocks, statx
	golang.org/x/term v0.47.0 // sizes and modes of terminals
	pgregory.net/rapid v1.3.0 // tests alone: random histories, cut down to the shortest that fails
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)
