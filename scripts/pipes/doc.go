// Package pipes shows that no stage of a pipeline takes the end of its input for success if an
// earlier stage has failed or was killed. It contains only tests.
//
// A trial runs a script with a pipeline of three stages of dpl-run in one operation. Dash, bash,
// zsh or busybox sh runs the script. The first stage writes lines at random speed, the second one
// is a filter, and the last one runs
//
//	cat >>out.part && mv out.part out
//
// Once all three calls have begun, the trial kills one or several of nine processes at a random
// time: the command, the dpl-run and the keeper of each stage. In other trials, the command of the
// first or second stage exits 1, or a process of the outer dpl-run is killed. Without an outer
// dpl-run, a command exits 1 only after all calls have begun: before that, a stage that begins
// later begins another run (spec/howto.md says so). Afterwards, out must be absent or whole, and the
// record must name the cause. No process may be left. The next run of the same script must publish
// the whole file.
//
// Two kinds of trials are counted apart, because they may publish a truncated file:
//
//   - A stage is killed before its call is in the ledger, or before its command has started.
//   - The dpl-run and the keeper of a stage are killed together. With dpl-run --to, such a trial
//     must not publish a truncated file either.
//
// TestPipes makes a few trials. DPL_PIPES=N makes N, and DPL_SOAK=1 makes 3000. TestPipes prints
// DPL_SEED=N, which repeats the plans of all trials. DPL_TRIAL=I makes only trial I of them.
package pipes
