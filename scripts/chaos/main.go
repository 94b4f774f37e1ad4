//go:build linux

// Chaos uses the commands as hard as it can, for hours: builds, crowds of calls, services, damaged
// files, full disks, odd environments, and kill -9 of anything at any time.
//
//	go run ./scripts/chaos [-for 2h] [-seed N] [-only REGEXP] BINDIR
//
// Whatever happens, it checks that every acknowledged edit is there; no process, file or directory
// is left over; every operation ends; every exit status and file is right; and no command crashes.
// At the first violation it exits 1, prints the scenario and the seed, and keeps the directory. It
// leaves out scenarios for which a program or right is missing, and says so.
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
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()),
		"choose as in the run that named this seed")
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
