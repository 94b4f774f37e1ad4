//go:build linux

// Chaos uses the commands as hard as it can, for hours: builds, crowds of calls, services, damaged
// files, full disks, odd environments, and kill -9 of anything at any time.
//
//	go run ./scripts/chaos [-for 2h] [-seed N] [-only REGEXP] BINDIR
//
// Whatever happens, these hold: an edit that was acknowledged is there; no process, file or
// directory is left over; every operation comes to its end; no exit status and no file lies; no
// command crashes. It exits 1 at the first that does not hold, names the scenario and the seed, and
// keeps the directory. Scenarios for which a program or right is missing are left out, which it says.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	length := flag.Duration("for", 2*time.Hour, "go on for this long")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "choose as in the run that named this seed")
	only := flag.String("only", "", "only the scenarios that match this `regexp`")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	bin, err := filepath.Abs(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := &runner{bin: bin, seed: *seed, pattern: pattern, log: os.Stdout}
	if !r.run(ctx, *length) {
		os.Exit(1)
	}
}
