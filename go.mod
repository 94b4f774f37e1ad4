module github.com/dpl-project/dpl

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0 // flags, declared once: help, manual pages, completions and errors follow
	github.com/anishathalye/porcupine v1.3.1 // tests only: checks that histories of many processes are linearizable
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // jsontext: strict JSON that keeps unknown members unchanged
	github.com/gofrs/flock v0.13.1 // the lock, on every system
	github.com/hinshun/vt10x v0.0.0-20220301184237-5011da428d02 // scripts/pictures and testscripts: what a terminal shows; it needs no other module, unlike charmbracelet/x/vt, which needs 14
	github.com/mattn/go-runewidth v0.0.31 // the width of text in columns, for dpl-status
	github.com/natefinch/atomic v1.0.1 // the replacing rename on Linux and Windows; elsewhere no path leads through a descriptor
	github.com/prometheus/client_model v0.6.2 // tests only: what expfmt returns
	github.com/prometheus/common v0.67.5 // tests only: expfmt, the parser with which node_exporter reads what dpl-status --openmetrics writes
	github.com/rogpeppe/go-internal v1.16.0 // testscript for tests; diff for --dry-run
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // the rule json of dpl-check; in tests, the vectors against the schemas
	go.opentelemetry.io/proto/slim/otlp v1.11.1 // tests only: the official types check the spans of dpl-trace; linked, they would slow down its start
	golang.org/x/sys v0.49.0 // pidfd, inotify, clocks, statx
	golang.org/x/term v0.47.0 // sizes and modes of terminals
	google.golang.org/protobuf v1.36.12 // tests only: reads the official types, and refuses what they do not know
	pgregory.net/rapid v1.3.0 // tests only: random histories, shrunk to the shortest failing one
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	go.yaml.in/yaml/v2 v2.4.3 // indirect
	golang.org/x/text v0.32.0 // indirect
	golang.org/x/tools v0.39.0 // indirect
)
