//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// workerVariable holds the job of a process that is a worker, and no benchmark.
const workerVariable = "DPL_BENCH_WORKER"

// A job is the task of a worker: one command, repeated a number of times.
type job struct {
	Argv  []string
	Edits int
	Dir   string
	Env   []string
}

// A shift is what a worker has done.
type shift struct {
	Ended   time.Duration   // on the monotonic clock
	Took    []time.Duration // of each edit that was acknowledged
	Refused []string        // the results of the others
}

// work does a job like a loop in a shell: a process for each edit. It begins when it can read a
// line.
func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}

	s, err := newStarter(j.Dir)
	if err != nil {
		return err
	}
	defer os.Remove(s.errors.Name())

	s.env = j.Env
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}

	var done shift
	for range j.Edits {
		took, err := s.time(j.Argv)
		if err != nil {
			done.Refused = append(done.Refused, err.Error())
			continue
		}
		done.Took = append(done.Took, took)
	}

	done.Ended = monotonic()

	return json.NewEncoder(os.Stdout).Encode(done)
}

// monotonic returns CLOCK_MONOTONIC, which all processes share.
func monotonic() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
