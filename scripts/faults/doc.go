// Package faults tests the real commands on a real kernel, under faults and side by side. It has no code of its own, only
// tests; strace, which needs no privilege, does the damage:
//
//   - TestFaults kills each command that writes before each system call that it makes on the ledger, lets each of these
//     calls fail, hides what became of a commit, fills the disk, ends writes in the middle, and puts garbage in the place of
//     files. Whatever happened, each file is whole, the exit status tells the truth, and the next command goes on.
//   - TestKills kills each process of the commands that are several, or wait: also keepers and stages. A tracer of its own counts
//     the calls of a whole process. No process and no file is left, and the next command goes on.
//   - TestInterleavings stops a command after each of these calls, runs another one meanwhile, and compares what comes of it
//     with both of them one after the other. With locks that do not exclude it must find what gets lost.
//
// DPL_SOAK=1 in the environment makes them try everything; else they leave out what is most alike. DPL_SEED repeats a choice.
package faults
