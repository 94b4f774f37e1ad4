//go:build linux

package pipes

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// coarse is the most by which the time of a file may be older than that of its change.
const coarse = 10 * time.Millisecond

// tooEarly reports whether a dpl-run was killed before its call was in the ledger, or before it had
// started its command: until then its keeper may not know of the call.
func (t *trial) tooEarly() bool {
	return t.fault == early && len(t.hit) > 0 && !(t.started && t.record.begun(t.hit[0].stage))
}

// unkept reports whether the dpl-run of a stage was killed, and its keeper was killed as well, or
// had ended because the command had ended well.
func (t *trial) unkept() bool {
	return slices.ContainsFunc(stages, func(stage string) bool {
		alone := slices.Contains(t.hit, victim{stage, keeper}) || slices.Contains(t.alone, stage)
		return alone && slices.Contains(t.hit, victim{stage, runner})
	})
}

// excepted reports whether the trial may publish a truncated file.
func (t *trial) excepted() bool {
	return t.tooEarly() || t.unkept() && t.shape != toFile
}

// judge finds what must not be so.
func (t *trial) judge() {
	if t.tooEarly() {
		return
	}

	completed := t.record.State == "completed"
	cause, reason := t.record.cause()
	switch {
	case t.out == truncated && !t.excepted():
		t.problem("published a truncated file: the operation %s: %s", t.record.State, reason)
	case t.out == absent && completed:
		t.problem("published nothing, and the operation completed")
	case t.out == whole && t.record.State == "failed" && t.late(cause):
		t.problem("published after a failure: %s: %s", cause, reason)
	case t.fault == noFault && !completed:
		t.problem("failed without a fault: %s: %s", cause, reason)
	}

	if t.unfound && !t.unkept() {
		t.problem("no process has found the crash")
	}
	if completed && t.status != 0 && t.out == whole && len(t.hit) == 0 {
		t.problem("completed, and the script exits %d", t.status)
	}
	if completed && t.fault == exits {
		t.problem("completed, although %s exits 1", t.exits)
	}
	if t.record.State != "failed" {
		return
	}

	if t.status == 0 && t.out != whole && !t.excepted() {
		t.problem("the script exits 0: %s", reason)
	}
	switch {
	case cause == "":
		t.problem("the record names no cause: %s", reason)
	case !t.guilty(cause):
		t.problem("the record blames %s: %s", cause, reason)
	}
}

// late reports whether the whole file was published although an earlier stage had failed before. A
// dpl-run that is killed once its command has ended well may have let go of the pipe already.
func (t *trial) late(cause string) bool {
	switch {
	case t.fault == exits:
		return true
	case cause != "first" && cause != "middle" || t.unkept() || slices.Contains(t.done, cause):
		return false
	}

	info, err := os.Stat(filepath.Join(t.dir, "out"))
	if err != nil {
		t.problem("%v", err)
		return false
	}
	changed := info.Sys().(*syscall.Stat_t).Ctim
	return time.Unix(changed.Unix()).After(t.struck.Add(coarse))
}

// guilty reports whether the fault was one of a call. If a process outside the pipeline is killed,
// that stops all calls. If the dpl-run of the last stage is killed after its call has ended, the
// script ends with its status.
func (t *trial) guilty(call string) bool {
	hit := slices.ContainsFunc(t.hit, func(v victim) bool { return v.stage == call })
	script := !slices.Contains(stages, call) && slices.Contains(t.hit, victim{"last", runner})
	return t.fault == outside || call == t.exits || hit || script
}
