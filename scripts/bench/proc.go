//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// Places of fields in what statOf returns: in proc_pid_stat(5) they are 3, 14, 15 and 22.
const (
	runState   = 0
	userTime   = 11
	kernelTime = 12
	startTime  = 19
)

// statOf returns the fields of a stat file in /proc that follow the name, which may have spaces.
func statOf(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= startTime {
		return nil, fmt.Errorf("%s: %q", file, text)
	}
	return fields, nil
}

// known returns the identities of p, as dpl-push --pid finds them.
func known(host observe.Host, processes []*os.Process) ([]observe.Process, error) {
	all := make([]observe.Process, len(processes))
	for i, p := range processes {
		fields, err := statOf(fmt.Sprintf("/proc/%d/stat", p.Pid))
		if err != nil {
			return nil, err
		}

		ticks, err := strconv.ParseInt(fields[startTime], 10, 64)
		if err != nil {
			return nil, err
		}

		inode, err := inodeOf(p.Pid)
		if err != nil {
			return nil, err
		}

		all[i] = observe.Process{PID: p.Pid, HostID: host.ID, BootID: host.BootID,
			PIDNamespace: host.PIDNamespace, StartTicks: ticks, PidfdInode: inode}
	}

	return all, nil
}

// inodeOf returns the inode of the pidfds of a process, or 0 before Linux 6.9.
func inodeOf(pid int) (int64, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("a handle on %d: %w", pid, err)
	}
	defer unix.Close(fd)

	var system unix.Statfs_t
	var file unix.Stat_t
	err = errors.Join(unix.Fstatfs(fd, &system), unix.Fstat(fd, &file))
	if err != nil || system.Type != unix.PID_FS_MAGIC {
		return 0, err
	}
	return int64(file.Ino), nil
}

// hasInotify reports whether a process has an inotify descriptor.
func hasInotify(pid int) bool {
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err == nil && strings.Contains(target, "inotify") {
			return true
		}
	}
	return false
}

// sleeps reports whether all threads of a process do.
func sleeps(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		if fields, err := statOf(t); err != nil || fields[runState] != "S" {
			return false
		}
	}
	return len(threads) > 0
}

// A usage is what a process has taken: clock ticks, and how often its threads have gone to sleep.
type usage struct{ ticks, switches int }

func usageOf(pid int) (u usage, err error) {
	fields, err := statOf(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}

	for _, place := range []int{userTime, kernelTime} {
		ticks, err := strconv.Atoi(fields[place])
		if err != nil {
			return u, err
		}
		u.ticks += ticks
	}

	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, t := range threads {
		text, err := os.ReadFile(t)
		if err != nil {
			return u, err
		}

		_, rest, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return u, err
		}

		u.switches += n
	}

	return u, err
}
