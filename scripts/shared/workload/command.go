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

// final returns the state in the end as host sees it, which may have to wait for its caches: until it is at revision.
func (r *rig) final(host int, ledger string, revision int64) state {
	var s state
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		a := r.command(host, ledger, "dpl-status", "--op", operation)
		if a.status == 0 {
			s, _ = a.state()
		}
		if s.Operation.Revision >= revision || time.Now().After(deadline) {
			return s
		}
	}
}
