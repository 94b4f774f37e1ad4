// Package group has groups of services and their verbs (spec/groups.md). It is as pure as package
// protocol.
//
// A [Group] is the content of the two files of a group. A verb ([Group.Register], [Group.Remove],
// [Group.BeatService], [Group.Shutdown], [Group.Restart]) returns a changed copy and leaves its
// receiver alone. A pass uses two of them: [Group.Pass] decides which processes to start and to
// signal, and [Group.Result] records how the starts went.
//
// A pass judges each service, plans what to do for the group, and acts on a copy of it.
package group
