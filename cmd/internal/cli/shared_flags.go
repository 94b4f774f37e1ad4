package cli

// sharedFlags is the help of flags that several commands have: see Manual.
const sharedFlags = `
age-after
	each D of waiting counts as one priority; 0: none does (0)
backoff
	pauses before the next attempt after each failure; the last repeats (0,30s,5m)
caller
	call on whose behalf this one is made ($DPL_CALL, if it belongs to the operation); - for
	none
commit
	for a new ledger: how edits replace a file (link if several hosts can use the file
	system)
depth
	refuse more tasks than that; 0: any number (0)
halt-on
	halt on notStarted, timedOut, blocked, dead:N, or failures:N in a row; -RULE removes one
	(notStarted)
handle
	the supervisor's name for the call
heartbeat
	promise heartbeats: without them the call has crashed, even while its process lives
interval
	for a new operation: how often to send heartbeats (1.5s, or a third of --staleness)
ledger
	ledger directory; without one $XDG_STATE_HOME/dpl, else ~/.local/state/dpl
lock-timeout
	how long to wait for another command before exiting 75 (${default})
now
	use TIME as the current time; commands that change something also need --dry-run, or
	$DPL_REPLAY
on-dead-dependency
	what becomes of tasks that wait for one that is dead or cancelled (wait)
orphan-policy
	what happens to the supervisor's live calls when it dies (crash)
queue
	queue; may be given as the first argument
remember-for
	how long the id of an ended task is known, at least (7d)
resource
	delete PATH unless the call ends well; what is there already is kept if it is unchanged,
	or a directory
resource-root
	for a new ledger: allow it to delete resources below DIR
service
	service
staleness
	for a new operation: a call judged by its heartbeats has crashed after D without one
	(10s)
supervisor
	supervisor that cleans up if the call crashes
sync
	how much to fsync (full, but file for a plain heartbeat)
to
	the person NAME, whose questions are in the queue ask.NAME (ask)
trust-group
	on a shared ledger, act on data written by other members of its group
trust-owner
	use a shared ledger that belongs to USER, besides those of this user and root
`
