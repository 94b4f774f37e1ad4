// Package group has groups of services and their verbs (spec/groups.md). It is as pure as package
// protocol.
//
// A [Group] is the content of the two files of a group. A verb ([Group.Register], [Group.Remove],
// [Group.BeatService], [Group.Shutdown], [Group.Restart]) returns a changed copy and leaves its
// receiver alone. It works on a [Draft].
//
// Package plan makes the passes that start and stop services, and package policy has the rules of
// restarts, limits and budgets.
package group
