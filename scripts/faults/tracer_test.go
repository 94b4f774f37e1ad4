//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// Strace counts the calls of a thread. A tracer counts those of a whole process, whichever of its
// threads makes them, and so can kill any process of a command at each of its calls: the command
// itself, and the keepers and stages that it forks.

// A tracer runs a command, and follows it and what it forks until that becomes a foreign program,
// which it lets go.
type tracer struct {
	bin    string
	victim int  // which process is killed, in the order in which they begin; 0 is the command
	when   int  // before which of its calls, counted from 1; 0: none is
	stays  bool // services do, when the command has ended

	threads   map[int]*tracee // by thread
	processes []*tracee       // in the order in which they begin
	hit       string          // the call before which the victim was killed
	status    int             // of the command; 128 + n after signal n
}

// A tracee is a process of our own programs.
type tracee struct {
	pid   int
	ticks int64 // when it started
	calls int   // that count, so far
	gone  bool
	let   bool // it has become a foreign program
}

// Calls without an effect for others do not count: a kill before one of them leaves the same as a
// kill before the next one with an effect.
var counted = map[uint64]string{
	unix.SYS_OPENAT: "openat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_LINKAT: "linkat",
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_FSYNC: "fsync",
	unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_FCHMOD:    "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FLOCK: "flock",
	unix.SYS_CLOSE_RANGE: "close_range", unix.SYS_DUP3: "dup3",
	unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXECVE: "execve",
	unix.SYS_EXECVEAT: "execveat", unix.SYS_EXIT_GROUP: "exit_group", unix.SYS_KILL: "kill",
	unix.SYS_PIDFD_SEND_SIGNAL: "pidfd_send_signal",
	unix.SYS_SETSID:            "setsid", unix.SYS_SETPGID: "setpgid", unix.SYS_PRCTL: "prctl",
	unix.SYS_SOCKETPAIR: "socketpair", unix.SYS_SENDMSG: "sendmsg", unix.SYS_RECVMSG: "recvmsg",
	unix.SYS_PPOLL: "ppoll", unix.SYS_WAIT4: "wait4", unix.SYS_WAITID: "waitid",
}

// follow runs a command to its end. Where services stay, it returns when the command has ended and
// its other processes rest; else when all have ended.
func (tr *tracer) follow(argv []string) error {
	runtime.LockOSThread() // only the thread that traces may ask for anything
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})

	if err != nil {
		return err
	}
	if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
		return err
	}

	tr.begin(pid)
	options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
		unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return err
	}

	unix.PtraceSyscall(pid, 0)

	return tr.events()
}

// rest is how long a process that may stay makes no call before it is left alone.
const rest = 100 * time.Millisecond

// events handles what happens until all is over.
func (tr *tracer) events() error {
	quiet := time.Now()
	for {
		flags := unix.WALL
		if tr.stays && tr.processes[0].gone {
			flags |= unix.WNOHANG
		}

		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, flags, nil)
		switch {
		case err == unix.EINTR:
		case err == unix.ECHILD:
			return nil
		case err != nil:
			return err
		case tid == 0 && time.Since(quiet) > rest:
			return nil
		case tid == 0:
			time.Sleep(time.Millisecond)
		default:
			quiet = time.Now()
			tr.event(tid, status)
		}
	}
}

// begin notes a process, which is stopped.
func (tr *tracer) begin(pid int) *tracee {
	p := &tracee{pid: pid}
	p.ticks, _ = proc.StartTicks(pid)
	tr.processes = append(tr.processes, p)
	tr.threads[pid] = p
	return p
}

// know returns the process of a thread, possibly at its first appearance.
func (tr *tracer) know(tid int) *tracee {
	if p := tr.threads[tid]; p != nil {
		return p
	}

	leader := threadGroup(tid)
	for _, p := range tr.processes {
		if p.pid == leader && !p.gone {
			tr.threads[tid] = p
			return p
		}
	}

	return tr.begin(tid)
}

func (tr *tracer) event(tid int, status unix.WaitStatus) {
	_, known := tr.threads[tid]
	p := tr.know(tid)
	switch {
	case status.Exited() || status.Signaled():
		delete(tr.threads, tid)
		if tid != p.pid {
			return
		}
		p.gone = true
		if p == tr.processes[0] {
			tr.status = status.ExitStatus()
			if status.Signaled() {
				tr.status = 128 + int(status.Signal())
			}
		}
	case status.StopSignal() == unix.SIGTRAP|0x80:
		tr.call(tid, p)
	case status.StopSignal() == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		p = tr.executed(tid)
		if p.let {
			unix.PtraceDetach(tid)
			delete(tr.threads, tid)
			return
		}
		unix.PtraceSyscall(tid, 0)
	case status.StopSignal() == unix.SIGTRAP:
		unix.PtraceSyscall(tid, 0)
	case status.StopSignal() == unix.SIGSTOP && !known:
		unix.PtraceSyscall(tid, 0)
	default:
		unix.PtraceSyscall(tid, int(status.StopSignal()))
	}
}

// executed notes that a process, whose first thread is tid now, has become another program.
func (tr *tracer) executed(tid int) *tracee {
	p := tr.know(tid)
	for other, of := range tr.threads {
		if of == p && other != tid {
			delete(tr.threads, other)
		}
	}

	exe, _ := os.Readlink("/proc/" + strconv.Itoa(tid) + "/exe")
	p.let = filepath.Dir(exe) != tr.bin
	return p
}

// call lets a call happen, or kills the victim before it.
func (tr *tracer) call(tid int, p *tracee) {
	defer unix.PtraceSyscall(tid, 0)
	name, counts := enters(tid)
	if !counts {
		return
	}

	p.calls++
	if tr.hit != "" || p.calls != tr.when || slices.Index(tr.processes, p) != tr.victim {
		return
	}

	tr.hit = name
	unix.Kill(p.pid, unix.SIGKILL)
}

// enters returns the name of the call that a thread is about to make, and whether it counts.
func enters(tid int) (name string, counts bool) {
	var info struct {
		op   uint8
		_    [3]uint8
		arch uint32
		_    [2]uint64
		nr   uint64
		args [6]uint64
		_    [4]uint64
	}
	const getSyscallInfo, entry = 0x420e, 1
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || info.op != entry {
		return "", false
	}

	name, counts = counted[info.nr]
	if info.nr == unix.SYS_OPENAT && info.args[2]&(unix.O_CREAT|unix.O_WRONLY|unix.O_RDWR) == 0 {
		counts = false
	}

	return name, counts
}

// threadGroup returns the process of a thread.
func threadGroup(tid int) int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return tid
	}
	return pid
}

// A killing is what a tracer tells of a run.
type killing struct {
	Status    int    // of the command; 128 + n after signal n
	Hit       string // the call before which the victim was killed; "": none
	Processes []beginning
}

// A beginning is a process that the command was or has begun, and how many of its calls counted.
type beginning struct {
	PID, Calls int
	Ticks      int64
}

const tracerVariable = "DPL_FAULTS_TRACER"

// trace is the tracer that runTraced starts. It is a process of its own, because it waits for any
// child that ends, and because the processes it still traces continue when it ends.
func trace(order string) {
	tr := &tracer{threads: make(map[int]*tracee)}
	_, err := fmt.Sscan(order, &tr.victim, &tr.when, &tr.stays)
	if err == nil {
		os.Unsetenv(tracerVariable)
		tr.bin = filepath.Dir(os.Args[1])
		err = tr.follow(os.Args[1:])
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(125)
	}

	k := killing{Status: tr.status, Hit: tr.hit}
	for _, p := range tr.processes {
		k.Processes = append(k.Processes, beginning{p.pid, p.calls, p.ticks})
	}

	json.NewEncoder(os.NewFile(3, "report")).Encode(k)
	os.Exit(0)
}

// runTraced runs s, and kills a process, as counted by a tracer, before a call.
func (w *world) runTraced(t *testing.T, s step, victim, when int) (killing, result) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	report, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()

	ctx, cancel := deadline()
	defer cancel()

	cmd := w.command(ctx, s, self)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %d %t", tracerVariable, victim, when, w.starts))
	cmd.ExtraFiles = []*os.File{theirs}
	got := runCommand(ctx, cmd)
	theirs.Close()
	var k killing
	if got.status != 0 {
		t.Fatalf("%v: process %d to be killed before call %d: the tracer: %v", s, victim, when, got)
	}
	if err := json.NewDecoder(report).Decode(&k); err != nil {
		t.Fatal(err)
	}

	got.status = k.Status

	return k, got
}

// left returns those of the processes that still are there.
func (k killing) left() (pids []int) {
	for _, p := range k.Processes {
		if ticks, alive := proc.StartTicks(p.PID); alive && ticks == p.Ticks {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
