package process

import (
	"os"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// Identify returns the identity of the process that has pid now, or ErrNoProcess. A thread other
// than the first of its process has a number but is not a process.
//
// If the process is alive but part of its identity cannot be read, Identify returns only the pid.
// This happens if /proc is missing, hides the process (hidepid) or shows another pid namespace; in
// a time namespace; and for a process that started with the machine, at tick 0.
func Identify(pid int) (observe.Process, error) {
	if !ValidPID(pid) {
		return observe.Process{}, ErrNoProcess
	}

	handle, unopened := openPIDFD(pid)
	if unopened == nil {
		defer handle.close()
	}
	found, err := look(pid)
	if err != nil {
		return observe.Process{}, err
	}

	host := here.host
	if host.BootID == "" || host.PIDNamespace == "" || found.startTicks == 0 {
		return observe.Process{PID: pid}, nil
	}

	p := observe.Process{
		PID:          pid,
		HostID:       host.ID,
		BootID:       host.BootID,
		PIDNamespace: host.PIDNamespace,
		StartTicks:   found.startTicks,
	}
	// If it has not ended, pid was its number all along, so both are of the same process.
	if unopened == nil && handle.unique() && !ended(uintptr(handle)) {
		p.PidfdInode = handle.inode()
	}
	return p, nil
}

// Look returns the presence of p, of which host, boot and pid namespace must be our own: by the
// inode of its pidfd if that was recorded, which takes a third to two thirds of the time of reading
// /proc, and otherwise by its start time. It is Gone if no process has the pid, or a zombie has it,
// or a process with another inode or start time; and Unseen if the pid is impossible or nothing is
// certain.
func Look(p observe.Process) observe.Presence {
	if !ValidPID(p.PID) {
		return observe.Unseen
	}
	if p.PidfdInode != 0 {
		if found := lookByInode(p); found != observe.Unseen {
			return found
		}
	}

	s, err := look(p.PID)
	switch {
	case err != nil:
		return observe.Gone
	case p.StartTicks <= 0 || s.startTicks <= 0:
		return observe.Unseen
	case s.startTicks != p.StartTicks:
		return observe.Gone
	}

	return observe.Present
}

// Stopped reports whether p, a process of this host, boot and pid namespace that exists, is stopped
// by a signal. It returns false if it cannot tell.
func Stopped(p observe.Process) bool {
	s, err := look(p.PID)
	return err == nil && s.startTicks == p.StartTicks && s.state == 'T'
}

// Exited reports whether the process that had pid and started at startTicks is certainly gone: no
// process has the pid, or a zombie has it, or a process with another start time. If startTicks or
// the start time found is unknown (0), only the first two count. A process that cannot be seen, for
// lack of permission or another reason, is not evidence, and neither is an impossible pid.
//
// The caller must have checked that host, boot and pid namespace are its own.
func Exited(pid int, startTicks int64) bool {
	return Look(observe.Process{PID: pid, StartTicks: startTicks}) == observe.Gone
}

// look returns what /proc shows of the process pid, without the parts that cannot be read, or
// ErrNoProcess.
func look(pid int) (s stat, err error) {
	here.once.Do(surroundings)
	if here.procfs {
		var buf [1024]byte // fields 1 to 38 are shorter than 900 bytes
		s, _ = parseStat(read("/proc/"+strconv.Itoa(pid)+"/stat", buf[:]))
	}

	// The kernel is asked only if the file does not say it: ENOENT may mean hidepid. It is asked
	// after reading the file, so that a process that died in between counts as gone. Unlike
	// kill(2), tgkill(2) of a pair does not find a thread that is not the first of its process.
	if s.ended() || !s.lives() && unix.Tgkill(pid, pid, 0) == unix.ESRCH {
		return stat{}, ErrNoProcess
	}
	if !here.clocks {
		return stat{}, nil // start times are shifted as well
	}

	return s, nil
}

// Name returns the name of the program that pid runs, or "".
func Name(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(name))
}
