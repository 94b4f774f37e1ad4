package main

import "strings"

// A variable is one of the environment that a command looks at.
type variable struct {
	name, meaning string
}

// variables are those that the help of a flag may mention, except those that every command reads.
var variables = []variable{
	{"DPL_OP", "The operation, where --op is not given."},
	{"DPL_RUN", "The run of $DPL_OP that this process is part of."},
	{"DPL_CALL", "The call, where --call is not given; for a new call its caller, where --caller " +
		"is not given."},
	{"DPL_PARTICIPANT", "The participant, where --participant is not given."},
	{"DPL_GROUP", "The group, where --group is not given."},
	{"DPL_SERVICE", "The service, where --service is not given; $DPL_SUPERVISOR where this is not " +
		"set."},
	{"DPL_SUPERVISOR", "The supervisor, where --supervisor is not given."},
	{"DPL_QUEUE", "The queue, where --queue is not given."},
	{"DPL_TASK", "The task, in an attempt of the same queue, where --task is not given."},
	{"DPL_EPOCH", "The number of its claim, where --epoch is not given."},
}

// everywhere are those that every command looks at.
var everywhere = []variable{
	{"DPL_LEDGER", "The ledger directory, where --ledger is not given."},
	{"XDG_STATE_HOME", "Where neither is given, the ledger is the directory dpl in there, else `~/.local/state/dpl`."},
	{"DPL_SYNC", "How much to fsync, where --sync is not given."},
	{"DPL_TRUST_OWNER", "A user to whom a shared ledger may belong, where --trust-owner is not given."},
	{"DPL_TRUST_GROUP", "1: act on what other members of the group of a shared ledger have written."},
	{"DPL_NOW", "The time, where --now is not given; for tests and replay. Leave it unset " +
		"otherwise."},
	{"DPL_REPLAY", "1: the ledger is only for tests or replay, which may be changed by the time " +
		"of --now."},
}

// variablesOf returns the variables that c looks at.
func variablesOf(c *command) (all []variable) {
	for _, v := range variables {
		for _, f := range c.Flags {
			if strings.Contains(f.Help, "$"+v.name) {
				all = append(all, v)
				break
			}
		}
	}

	return append(all, everywhere...)
}
