// Package nights runs the nightly backup of a user, for many nights, and disturbs it. It contains
// only tests.
//
// The job dumps a PostgreSQL database through gzip into a directory, from a script that cron starts.
// Another line of the crontab runs dpl-cleanup. In each night something happens: the dump, gzip, the
// upload, one of their dpl-runs or keepers, the shell or everything is killed, the database server
// is stopped, the disk is full, a second start overlaps the first, or the machine reboots. It checks
// that
//
//   - a reader that looks all the time finds no published file, or a whole dump;
//   - a night that nothing disturbs publishes a new dump, and is silent;
//   - a night that fails is reported in exactly one mail, with the right cause;
//   - the next night runs, whatever has happened in the night before;
//   - no process and no unfinished file is left.
//
// TestNights plays the lines of the crontab one after the other, without waiting for the next
// minute, and runs some nights under a real cron. With DPL_SOAK=1 it takes an hour. DPL_SEED repeats
// the choices of a run. TestControls checks that it finds what it looks for.
package nights
