// Bench times the commands as whole processes against a null Go process and against what people use instead, all in one
// run, and prints ratios of medians. Absolute times say nothing: they drift with the machine.
//
//	go run ./scripts/bench [-rounds N] [-dir DIR] BINDIR
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A contestant is one command line to be timed.
type contestant struct {
	name string
	argv []string
	took []time.Duration
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 200, "how often each command runs")
	dir := flag.String("dir", "", "where the ledgers are made; the file system matters (default: the temporary directory)")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: bench [-rounds N] [-dir DIR] BINDIR")
	}
	bin, err := filepath.Abs(flag.Arg(0))
	check(err)
	work, err := os.MkdirTemp(*dir, "dpl-bench-")
	check(err)
	defer os.RemoveAll(work)

	all := append([]*contestant{null(work)}, commands(bin, work)...)
	all = append(all, peers(work)...)
	measure(all, *rounds)
	report(all)
	contention(bin, work)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func run(argv ...string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	check(cmd.Run())
}

// null returns a Go process that does nothing, built as the commands are.
func null(work string) *contestant {
	source, program := filepath.Join(work, "null.go"), filepath.Join(work, "null")
	check(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	check(build.Run())
	return &contestant{name: "null Go process", argv: []string{program}}
}

// commands returns heartbeats of one call among 3, and among 1000, all pushed by dpl-push. Frames that were pushed with
// --now have no beat on the monotonic clock, only the members of the first design: four tenths less to read and write.
func commands(bin, work string) []*contestant {
	heartbeat := filepath.Join(bin, "dpl-heartbeat")
	now := []string{"--now", time.Now().UTC().Format(time.RFC3339)}
	var all []*contestant
	for _, c := range []struct {
		ledger, name string
		frames       int
		flags        []string
	}{
		{"ledger3", "dpl-heartbeat, 3 frames", 3, nil},
		{"ledger1000", "dpl-heartbeat, 1000 frames", 1000, nil},
		{"ledger1000now", "  the same, pushed with --now", 1000, now},
	} {
		ledger := filepath.Join(work, c.ledger)
		for i := range c.frames {
			run(append([]string{filepath.Join(bin, "dpl-push"), "--ledger", ledger, "--op", "op", "--call", fmt.Sprint("call-", i),
				"--participant", "worker", "--staleness", "24h", "--sync", "none"}, c.flags...)...)
		}
		all = append(all, &contestant{name: c.name, argv: []string{heartbeat, "--ledger", ledger, "--op", "op", "--call", "call-1"}})
	}
	return append(all, &contestant{
		name: "dpl-status --check, 3 frames",
		argv: []string{filepath.Join(bin, "dpl-status"), "--ledger", filepath.Join(work, "ledger3"), "--op", "op", "--check", "running"},
	})
}

// peers returns the heartbeat of 3 frames as people write it by hand, as far as their tools are installed.
func peers(work string) []*contestant {
	text, err := os.ReadFile(filepath.Join(work, "ledger3", "operations", "op.json"))
	check(err)
	file := filepath.Join(work, "peer.json")
	check(os.WriteFile(file, text, 0o600))
	jq := `jq '.stack[1].lastHeartbeat = (now | todate)' "$0" > "$0.new" && sync "$0.new" && mv "$0.new" "$0"`
	python := `import fcntl, json, os, sys, time
lock = open(sys.argv[1] + '.lock', 'w'); fcntl.flock(lock, fcntl.LOCK_EX)
op = json.load(open(sys.argv[1])); op['stack'][1]['lastHeartbeat'] = time.time()
with open(sys.argv[1] + '.new', 'w') as f:
    json.dump(op, f); f.flush(); os.fsync(f.fileno())
os.rename(sys.argv[1] + '.new', sys.argv[1])`
	var all []*contestant
	for _, p := range []struct {
		name, needs string
		argv        []string
	}{
		{"flock + jq + mv", "jq", []string{"flock", file + ".lock", "sh", "-c", jq, file}},
		{"python3 with fcntl and json", "python3", []string{"python3", "-c", python, file}},
	} {
		if _, err := exec.LookPath(p.needs); err != nil {
			fmt.Printf("left out: %s: there is no %s\n", p.name, p.needs)
			continue
		}
		all = append(all, &contestant{name: p.name, argv: p.argv})
	}
	return all
}

// measure runs each contestant rounds times, in a new order each round, so that a drift of the machine meets all alike.
func measure(all []*contestant, rounds int) {
	for round := range rounds + 5 {
		for _, i := range rand.Perm(len(all)) {
			c := all[i]
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			start := time.Now()
			if err := cmd.Run(); err != nil {
				log.Fatalf("%s: %v", c.name, err)
			}
			if round >= 5 { // the first rounds warm up
				c.took = append(c.took, time.Since(start))
			}
		}
	}
}

func report(all []*contestant) {
	base := quantile(all[0].took, 0.5)
	fmt.Printf("%-32s %8s %8s %8s   medians of %d, ratio to the first\n", "", "median", "p90", "ratio", len(all[0].took))
	for _, c := range all {
		fmt.Printf("%-32s %8s %8s %8.2f\n", c.name, round(quantile(c.took, 0.5)), round(quantile(c.took, 0.9)),
			float64(quantile(c.took, 0.5))/float64(base))
	}
}

func round(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

func quantile(d []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[int(q*float64(len(sorted)-1))]
}

// contention lets many processes beat in one operation, and compares their throughput with that of one alone.
func contention(bin, work string) {
	heartbeat, ledger := filepath.Join(bin, "dpl-heartbeat"), filepath.Join(work, "ledger3")
	const beats = 20
	fmt.Printf("\n%-32s %8s %8s %8s %14s\n", "dpl-heartbeat in one operation", "per s", "p50", "p99", "slowest worker")
	for _, workers := range []int{1, 8, 64} {
		took := make([][]time.Duration, workers)
		done := make(chan int)
		start := time.Now()
		for i := range workers {
			go func() {
				for range beats {
					begin := time.Now()
					run(heartbeat, "--ledger", ledger, "--op", "op", "--call", "call-1", "--lock-timeout", "60s")
					took[i] = append(took[i], time.Since(begin))
				}
				done <- i
			}()
		}
		var ends []time.Duration
		for range workers {
			<-done
			ends = append(ends, time.Since(start))
		}
		all := slices.Concat(took...)
		fmt.Printf("%-32s %8.0f %8s %8s %13.2fx\n", fmt.Sprintf("%d processes at once", workers),
			float64(workers*beats)/ends[len(ends)-1].Seconds(), round(quantile(all, 0.5)), round(quantile(all, 0.99)),
			float64(ends[len(ends)-1])/float64(ends[0]))
	}
}
