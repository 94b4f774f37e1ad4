//go:build linux

package pipes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// A process is one that has not ended when it is found. Its start tells it from a later one with
// the same pid.
type process struct {
	pid   int
	start int64
}

// found returns the process pid, and whether there is one.
func found(pid int) (process, bool) {
	start, alive := proc.StartTicks(pid)
	return process{pid, start}, alive
}

func (p process) alive() bool {
	start, alive := proc.StartTicks(p.pid)
	return alive && start == p.start
}

// kill kills the process, and reports whether it was alive.
func (p process) kill() bool {
	return proc.Signal(p.pid, syscall.SIGKILL, func(int) bool { return p.alive() })
}

// children returns the children of a process, those of all its threads.
func children(pid int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// isKeeper reports whether a process is a keeper.
func isKeeper(pid int) bool {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(comm)) == "dpl-keeper"
}

// keepers returns the keepers that a process and its descendants have as children.
func keepers(pid int) (all []process) {
	for _, child := range children(pid) {
		if p, ok := found(child); ok && isKeeper(child) {
			all = append(all, p)
		}
		all = append(all, keepers(child)...)
	}
	return all
}

// ofStage returns the processes of the stage whose dpl-run is pid, by role.
func ofStage(pid int) map[string]process {
	all := make(map[string]process)
	note := func(role string, pid int) {
		if p, ok := found(pid); ok {
			all[role] = p
		}
	}

	note(runner, pid)
	for _, child := range children(pid) {
		if isKeeper(child) {
			note(keeper, child)
		} else {
			note(command, child)
		}
	}
	return all
}

// runnerOf returns the dpl-run of a stage among pid and its descendants, or 0.
func runnerOf(stage string, pid int) int {
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if bytes.HasPrefix(cmdline, []byte("dpl-run\x00--call\x00"+stage+"\x00")) {
		return pid
	}
	for _, child := range children(pid) {
		if found := runnerOf(stage, child); found != 0 {
			return found
		}
	}
	return 0
}
