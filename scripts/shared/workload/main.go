//go:build linux

// Workload edits one ledger through two mounts at once, as two hosts would, and counts which
// acknowledged edits are lost.
//
//	workload run -name FS -a DIR -b DIR [flags] BIN     run all of it and print a line RESULT {…}
//	workload queues …                               the same for a queue, with the judges of scripts/queues
//	workload host                                       the part of one host, which run starts; its orders come on stdin
//	workload fxsr COMMAND...                            run COMMAND without the registers that user-mode-linux cannot keep
//	workload table FILE...                              make a table of the RESULT lines in FILE...
//
// DIR is the shared directory as each host sees it; -enter-a and -enter-b are prefixes that run a
// command on that host. Run creates a new ledger in the directory. Table exits 1 if a ledger that
// commits by link has lost an edit, or if none that commits by rename has.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A rig is what a driver has set up, and what to do with it.
type rig struct {
	name, version, options string
	commit                 string
	bin                    string
	scratch                string
	dir                    [2]string
	enter                  [2][]string
	edits                  int // of each writer
	writers                int // on each host
	patience               time.Duration
	zombies                string
	cut, heal              string
	cuts, parted           int // how often host a is to be cut off, and was from a queue
	period                 time.Duration
	histories              int
	parts                  string
	lease                  time.Duration
	apart                  time.Duration // between two cuts
	stuck                  bool          // a host has not come to the end of its orders
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("workload: ")
	if len(os.Args) < 2 {
		log.Fatal("usage: workload run|queues|host|table …")
	}

	switch os.Args[1] {
	case "run":
		arguments(os.Args[2:]).run().print()
	case "queues":
		arguments(os.Args[2:]).useQueue().print()
	case "host":
		var o orders
		check(json.NewDecoder(os.Stdin).Decode(&o))
		o.carryOut()
	case "fxsr":
		fxsr(os.Args[2:])
	case "table":
		if wrong := table(os.Args[2:]); wrong != nil {
			log.Fatal(strings.Join(wrong, "\n"))
		}
	default:
		log.Fatalf("%q: no such verb", os.Args[1])
	}
}

func (r *Result) print() {
	fmt.Println()
	fmt.Print("RESULT ")
	check(json.NewEncoder(os.Stdout).Encode(r))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func arguments(args []string) *rig {
	r := &rig{}
	f := flag.NewFlagSet("run", flag.ExitOnError)
	f.StringVar(&r.name, "name", "", "the file system")
	f.StringVar(&r.version, "version", "", "its version")
	f.StringVar(&r.options, "options", "default", "the mount options that matter")
	f.StringVar(&r.commit, "commit", "link", "link or rename: how the ledger commits")
	f.StringVar(&r.scratch, "scratch", os.TempDir(), "a local directory for traces")
	f.StringVar(&r.dir[0], "a", "", "the shared directory on host a")
	f.StringVar(&r.dir[1], "b", "", "the shared directory on host b")
	a := f.String("enter-a", "", "what runs a command on host a")
	b := f.String("enter-b", "", "what runs a command on host b")
	f.IntVar(&r.edits, "edits", 1000, "edits of each writer")
	f.IntVar(&r.writers, "writers", 4, "writers on each host")
	f.DurationVar(&r.patience, "patience", 5*time.Minute, "how long the writers may take")
	f.StringVar(&r.zombies, "zombies", "pause",
		"which holders of the lock to stop: pause, cut and late, or none")
	f.StringVar(&r.cut, "cut", "", "a shell command that cuts host a off")
	f.StringVar(&r.heal, "heal", "", "a shell command that undoes it")
	f.IntVar(&r.cuts, "cuts", 0, "how often to cut host a off while the writers are at work")
	f.DurationVar(&r.period, "period", 5*time.Minute, "for how long to use a queue")
	f.StringVar(&r.parts, "parts", "crowd,handover,histories", "what to do with queues")
	f.IntVar(&r.histories, "histories", 4, "histories of a queue for porcupine")
	f.DurationVar(&r.lease, "lease", 15*time.Second, "for how long")
	f.Parse(args)
	if f.NArg() != 1 || r.name == "" || r.dir[0] == "" || r.dir[1] == "" {
		log.Fatal("usage: workload run -name FS -a DIR -b DIR [flags] BIN")
	}

	r.apart = 3 * time.Second
	r.enter = [2][]string{strings.Fields(*a), strings.Fields(*b)}
	var err error
	r.bin, err = filepath.Abs(f.Arg(0))
	check(err)

	return r
}

// run makes a ledger of its own, so that runs on one mount do not meet.
func (r *rig) run() *Result {
	result := &Result{FS: r.name, Version: r.version, Options: r.options, Commit: r.commit,
		Wanted: 2 * r.writers * r.edits}
	ledger := fmt.Sprintf("ledger-%s-%d", r.commit, os.Getpid())
	if reason := r.create(ledger); reason != "" {
		result.Left = reason
		return result
	}

	logs, took, cuts := r.edit(ledger)
	result.Cuts = cuts
	open, revision := r.afterwards(ledger, "afterwards")
	result.count(logs, open, revision, took)
	if !r.stuck {
		result.countWatch(r.watch(ledger))
	}

	for _, kind := range strings.Split(r.zombies, ",") {
		if kind != "none" && kind != "" && !r.stuck {
			result.Zombies = append(result.Zombies, r.zombie(ledger, kind))
		}
	}

	result.Stuck = r.stuck

	return result
}

// create creates the ledger by the first call on host a, and makes host b see it. It returns the
// reason if it cannot.
func (r *rig) create(ledger string) string {
	args := []string{"--op", operation, "--call", rootCall, "--participant", rootCall,
		"--staleness", "24h"}
	switch knows := strings.Contains(r.command(0, ledger, "dpl-push", "--help").out, "--commit"); {
	case knows:
		args = append(args, "--commit", r.commit)
	case r.commit != "rename":
		return "these commands know no --commit"
	}

	made := r.command(0, ledger, "dpl-push", args...)
	if made.status != 0 {
		return fmt.Sprintf("refused, status %d: %s", made.status, made.text())
	}

	var seen answer
	if poll.Within(20*time.Second, func() bool {
		seen = r.command(1, ledger, "dpl-status", "--op", operation)
		return seen.status == 0
	}) {
		return ""
	}

	return fmt.Sprintf("host b does not see the ledger: status %d: %s", seen.status, seen.text())
}
