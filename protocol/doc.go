// Package protocol is the core of DPL: the meaning of an operation's file, and of each verb that
// changes it. It is pure: time, process identities and evidence are arguments, and the caller
// (package fileops) reads, locks and writes the files.
//
// An [Operation] is the content of one file. A verb ([Operation.Push], [Operation.Heartbeat],
// [Operation.Pop], [Operation.Abort], [Operation.Cleanup], [Operation.Ack], [Operation.Claim],
// [Operation.Unclaim]) returns a changed copy and leaves its receiver alone. If it fails, or has
// nothing to do, it returns the receiver, with the same Revision. A verb may ask for [Effects] on
// the file system.
//
// # Packages
//
// Groups of services are in package group, what they share with operations in package observe, and
// the values in all files in package wire.
//
// # Specification
//
// Section numbers refer to spec/protocol.md, and from §8 on to spec/groups.md.
package protocol
