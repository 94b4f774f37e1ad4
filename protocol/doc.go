// Package protocol is the core of DPL: the meaning of its files, and of each verb that changes
// them. It is pure: time, process identities and evidence are arguments, and the caller (package
// fileops) reads, locks and writes the files.
//
// # Operations
//
// An [Operation] is the content of one file. A verb ([Operation.Push], [Operation.Heartbeat],
// [Operation.Pop], [Operation.Abort], [Operation.Cleanup], [Operation.Ack], [Operation.Claim],
// [Operation.Unclaim]) returns a changed copy and leaves its receiver alone. If it fails, or has
// nothing to do, it returns the receiver, with the same Revision. A verb may ask for [Effects] on
// the file system.
//
// # Groups
//
// A [Group] is the content of the two files of a group of services. Its verbs ([Group.Register],
// [Group.Remove], [Group.BeatService], [Group.Shutdown], [Group.Restart]) work in the same way. A
// pass uses two of them: [Group.Pass] decides which processes to start and to signal, and
// [Group.Result] records how the starts went.
//
// # Specification
//
// Section numbers refer to spec/protocol.md, and from §8 on to spec/groups.md.
package protocol
