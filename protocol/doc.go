// Package protocol is the core of DPL: what its files mean, and what each verb makes of them. It is pure. Time,
// process identities and evidence are arguments; reading, locking and writing files are the caller's (package fileops).
//
// An Operation is the content of one file. A verb (Push, Heartbeat, Pop, Abort, Cleanup, Ack, Claim, Unclaim) returns a
// changed copy and leaves what it was given as it was. On an error, and if there is nothing to do, it returns what it was
// given, with the same Revision. A verb may ask for Effects on the file system.
//
// A Group is the content of the two files of a group of supervisors. Its verbs (Register, Remove, BeatService, Shutdown)
// are of the same kind. A pass is two of them: Pass decides which processes are to be started and signalled, and Result notes
// what came of the starts.
//
// The specification is spec/protocol.md, and for groups spec/groups.md; section numbers here are theirs.
package protocol
