// Package simulation is a test: it runs the code of the product itself (packages protocol and
// fileops, and the pass of package orchestrator) as several processes on one or two hosts that do
// not exist, with a clock, a file system, a process table and faults that a seed decides. One such
// run is a history. What has been promised is checked all the time and at its end.
//
//	go test ./cmd/internal/simulation                                    about ten seconds of histories
//	DPL_HISTORIES=60s go test -count=1 ./cmd/internal/simulation -run Histories -v
//	DPL_HISTORIES=10000000 go test -count=1 -timeout=0 ./cmd/internal/simulation -run Histories -v
//	DPL_SEED=4711 go test -count=1 ./cmd/internal/simulation -run Histories -v    one history again, call by call
package simulation
