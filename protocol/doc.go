// Package protocol is the core of DPL: what an operation file means, and what each verb makes of it. It is pure. Time,
// process identities and evidence are arguments; reading, locking and writing files are the caller's (package fileops).
//
// An Operation is the content of one file. A verb (Push, Heartbeat, Pop, Abort, Cleanup, Ack, Claim, Unclaim) returns a
// changed copy and leaves what it was given as it was. On an error, and if there is nothing to do, it returns what it was
// given, with the same Revision. A verb may ask for Effects on the file system.
//
// The specification is spec/protocol.md; section numbers here are its.
package protocol
