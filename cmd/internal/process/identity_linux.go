package process

import (
	"os"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// Identify returns the identity of the process that has the number pid now, or ErrNoProcess. A
// thread other than the first of its process has a number, but is no process.
//
// If the process is alive but a part of its identity cannot be read, Identify returns the pid
// alone. That happens where /proc is missing, hides the process (hidepid) or shows another pid
// namespace, in a time namespace, and for a process that started with the machine, at tick 0.
func Identify(pid int) (protocol.Process, error) {
	if !ValidPID(pid) {
		return protocol.Process{}, ErrNoProcess
	}
	found, err := look(pid)
	if err != nil {
		return protocol.Process{}, err
	}
	host := here.host
	if host.BootID == "" || host.PIDNamespace == "" || found.startTicks == 0 {
		return protocol.Process{PID: pid}, nil
	}
	return protocol.Process{
		PID:          pid,
		HostID:       host.ID,
		BootID:       host.BootID,
		PIDNamespace: host.PIDNamespace,
		StartTicks:   found.startTicks,
	}, nil
}

// Look returns what can be seen of the process that had the number pid and started at startTicks:
// Gone as in Exited; Present or Stopped if the process with that number started then; Unseen if
// that cannot be decided.
func Look(pid int, startTicks int64) protocol.Presence {
	if !ValidPID(pid) {
		return protocol.Unseen
	}

	s, err := look(pid)
	switch found := s.startTicks; {
	case err != nil || startTicks > 0 && found > 0 && found != startTicks:
		return protocol.Gone
	case startTicks > 0 && found == startTicks && s.state == 'T':
		return protocol.Stopped
	case startTicks > 0 && found == startTicks:
		return protocol.Present
	}
	return protocol.Unseen
}

// Exited reports whether the process that had the number pid and started at startTicks is certainly
// gone: nobody has the number, or a zombie has it, or a process with another start time. If
// startTicks or the start time found is unknown (0), only the first two count. A process that
// cannot be seen, for lack of permission or otherwise, is no evidence, and neither is an impossible
// number.
//
// The caller has checked that host, boot and pid namespace are its own.
func Exited(pid int, startTicks int64) bool {
	return Look(pid, startTicks) == protocol.Gone
}

// look returns what /proc says of the process pid, nothing of what cannot be read, or ErrNoProcess.
func look(pid int) (s stat, err error) {
	here.once.Do(surroundings)
	if here.procfs {
		var buf [1024]byte // fields 1 to 22 are shorter than 600 bytes
		s, _ = parseStat(read("/proc/"+strconv.Itoa(pid)+"/stat", buf[:]))
	}
	// Asked after the file was read: a process that died meanwhile is gone, and ENOENT alone may be
	// hidepid. Unlike kill(2), tgkill(2) of a pair finds no thread that is not the first of its
	// process.
	if s.ended() || unix.Tgkill(pid, pid, 0) == unix.ESRCH {
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
