// Package faults tests the real commands on a real kernel, under faults and side by side. It
// contains only tests. strace, which needs no privilege, makes the faults:
//
//   - TestFaults kills each command that writes before each of its system calls on the ledger,
//     makes each of these calls fail, hides the result of a commit, fills the disk, ends writes in the
//     middle, replaces files by garbage, removes empty directories, does not read its messages, and
//     leaves it few open files. In every case each file is whole, the exit status is right, and the next
//     command works.
//   - TestKills kills each process of commands that wait or consist of several processes, including
//     keepers and stages. A tracer of its own counts the calls of a whole process. No process and no
//     file is left, and the next command works. Where services end, none runs twice, and no status is
//     wrong.
//   - TestKeepers kills keepers at random times, and compares what passes say with how the services
//     ended.
//   - TestInterleavings stops a command after each of these calls, runs another one, and compares
//     the result with running both one after the other. Without exclusive locks it must find lost edits.
//
// With DPL_SOAK=1 in the environment they try everything. Otherwise each command has a turn in one
// of eight runs, and similar cases are left out. DPL_SEED repeats a choice.
package faults
