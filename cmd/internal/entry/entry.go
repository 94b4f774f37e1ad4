// Package entry is where a command starts on Linux, if it was linked with -E dpl_entry, as in the
// Makefile.
//
// It checks which of stdin, stdout and stderr are open. In place of one that is not, the runtime
// opens /dev/null for reading and writing, just as daemon(3), Python and Node do when no output is
// wanted.
//
// It also implements the keeper of a start, which lives as long as a service. Each pass that starts
// a service waits for its keeper, which needs only a few system calls; the runtime alone would take
// a millisecond and 1.5 MB. See Spawn in package start.
//
// It also spares the runtime some work that a command has no use for, which saves most commands a
// twelfth of their time. It switches off memory profiles, because the runtime only does so after it
// has taken one sample. And it adds GOMAXPROCS=1 to the environment, unless the variable is there:
// otherwise the runtime sets up every processor, and starts a thread that looks for work. See Begin
// and UseProcessors.
//
// For dpl-run, dpl-work and dpl-serve, it also reads which signals are ignored, because the runtime
// puts handlers in their place; and it installs one that does nothing for signal 34, which the
// runtime leaves alone. See Ignored.
//
// The FAQ says how a program behaves that was linked without it ("Can I install it with go
// install?").
//
// What else the Makefile links in is here as well: the version of the build.
package entry

import (
	"os"
	"runtime"
	"time"
)

// closed has 1 for each of the descriptors 0 to 2 that this process was started without. The
// assembly code sets them before any Go code runs.
var closed [3]uint8

// profileRate is where the runtime finds how often to take a memory profile. The assembly code sets
// that to 0; the linker lets only Go code name the variable.
var profileRate = &runtime.MemProfileRate

// oneProcessor is 1 if the assembly code has added GOMAXPROCS to the environment.
var oneProcessor uint8

// ignored has bit n-1 set if signal n was ignored when this process began, if ignoredKnown is 1.
var (
	ignored      uint64
	ignoredKnown uint8
)

// Ignored returns the signals that were ignored when this process began: bit n-1 is signal n. It is
// not known where there is no dpl_entry, and dpl_entry looks for dpl-run, dpl-work and dpl-serve
// only.
func Ignored() (signals uint64, known bool) { return ignored, ignoredKnown != 0 }

// Begin removes from the environment what dpl_entry has added, and switches off memory profiles
// where there is no dpl_entry. A program must call it before anything else, because its children
// inherit the environment.
//
// It also lets the runtime open the two descriptors that it needs for its first timer. When none is
// left, the runtime would exit with a trace and status 2 instead.
func Begin() {
	time.AfterFunc(time.Hour, func() {}).Stop()
	*profileRate = 0
	if oneProcessor != 0 {
		os.Unsetenv("GOMAXPROCS")
	}
}

// UseProcessors lets this program use all processors that it may, if dpl_entry gave it only one. It
// stops all goroutines for some microseconds.
func UseProcessors() {
	if oneProcessor != 0 {
		runtime.SetDefaultGOMAXPROCS()
	}
}

// Closed reports whether this process was started without the descriptor fd, from 0 to 2, as by >&-
// in a shell. It returns false if the command does not start here.
func Closed(fd uintptr) bool { return closed[fd] != 0 }
