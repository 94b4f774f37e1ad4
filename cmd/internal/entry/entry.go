// Package entry is where a command begins on Linux, if it was linked with -E dpl_entry, as the
// Makefile does.
//
// The runtime of Go reserves 1.2 GB of address space before it runs anything of ours. It uses
// little of that, but with less (ulimit -v) it ends with a trace and status 2; and if it happens
// to start all the same, it keeps a table at address 0, since it does not look whether it got the
// last half. So dpl_entry asks for the limit first, by one system call and without memory of its
// own. If it is below 1500000 KiB, which leaves the smallest command some room, it says so and
// exits 74, dpl-run 125. So it does for the limit of data (ulimit -d) below 128000 KiB, for the
// first part of the heap takes half of that. (Below some 34000 the kernel ends a program of Go
// before it begins.)
//
// It also asks whether stdout is open: in the place of one that is not, the runtime opens
// /dev/null for reading and writing, just as daemon(3), and Python and Node for whoever wants no
// output, do.
//
// And it is all of the keeper of a start, which lives as long as a service, and for which each
// pass that starts one waits: a few system calls, while the runtime alone would take a millisecond
// and 1.5 MB. See Spawn of package start.
package entry

// stdoutClosed is 1 if the process began without a stdout. The assembly sets it before anything of
// Go runs.
var stdoutClosed uint8

// StdoutClosed reports whether this process was begun without a stdout, as by >&- in a shell. It
// returns false where the command does not begin here.
func StdoutClosed() bool { return stdoutClosed != 0 }
