//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	operation = "shared"
	rootCall  = "root" // keeps the operation from ending
)

// An answer is what came of one dpl command.
type answer struct {
	status     int // -1: it was killed, or did not start
	out, err   string
	start, end time.Duration
}

// edit is what a dpl command prints of an edit.
type edit struct {
	Revision int64
	Changed  bool
}

func (a answer) edit() (e edit) {
	json.Unmarshal([]byte(a.out), &e)
	return e
}

// text is the message of a failure.
func (a answer) text() string {
	var failure struct{ Error struct{ Message string } }
	if json.Unmarshal([]byte(a.err), &failure) == nil && failure.Error.Message != "" {
		return failure.Error.Message
	}
	line, _, _ := strings.Cut(strings.TrimSpace(a.err), "\n")
	return line
}

// clock is one that all hosts of a rig share, since they are one machine.
func clock() time.Duration {
	var t unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &t))
	return time.Duration(t.Nano())
}

// execute runs argv on a ledger.
func execute(ledger string, argv ...string) answer {
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.Env = append(os.Environ(), "DPL_LEDGER="+ledger)
	a := answer{start: clock()}
	err := cmd.Run()
	a.end = clock()
	a.out, a.err = out.String(), stderr.String()
	var exit *exec.ExitError

	switch {
	case errors.As(err, &exit):
		a.status = exit.ExitCode()
	case err != nil:
		log.Fatal(err)
	}

	return a
}

// command runs a dpl command on one of the hosts.
func (r *rig) command(host int, ledger, name string, args ...string) answer {
	argv := append([]string{}, r.enter[host]...)
	argv = append(argv, filepath.Join(r.bin, name))
	if len(args) == 0 || args[0] != "--help" {
		argv = append(argv, "--json")
	}
	return execute(filepath.Join(r.dir[host], ledger), append(argv, args...)...)
}

// A state is what dpl-status says of an operation.
type state struct {
	Operation struct {
		Revision int64
		State    string
		Stack    []struct{ CallID string }
	}
}

func (a answer) state() (s state, err error) {
	err = json.Unmarshal([]byte(a.out), &s)
	return s, err
}

// afterwards pushes call, and returns the calls that are open then and the revision, so it does not
// rely on the cache of a host. A host that was cut off may be shut out for good, so it asks both.
// It returns nil if neither answers.
func (r *rig) afterwards(ledger, call string) (open map[string]bool, revision int64) {
	deadline := time.Now().Add(90 * time.Second)
	for host := 0; time.Now().Before(deadline); host = 1 - host {
		last := r.command(host, ledger, "dpl-push", "--op", operation, "--call", call,
			"--participant", "after")
		if last.status != 0 {
			continue
		}

		for ; time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			s, err := r.command(host, ledger, "dpl-status", "--op", operation).state()
			if err != nil || s.Operation.Revision < last.edit().Revision {
				continue
			}

			open = map[string]bool{}
			for _, frame := range s.Operation.Stack {
				open[frame.CallID] = true
			}
			return open, last.edit().Revision
		}
	}

	return nil, 0
}
