package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// attempts is a number of restarts, or group.Unlimited.
type attempts int

// UnmarshalText parses text.
func (a *attempts) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < group.Unlimited {
		return cli.Usagef("want a number, or -1 for no limit, not %q", text)
	}
	*a = attempts(n)
	return nil
}

// exitStatuses are the values of --exit-status.
type exitStatuses []exitStatus

// An exitStatus has the ends of one class.
type exitStatus struct {
	class group.Class
	ends  []string
}

// UnmarshalText parses text, one more CLASS=LIST.
func (x *exitStatuses) UnmarshalText(text []byte) error {
	class, list, ok := strings.Cut(string(text), "=")
	if !ok || new(group.ExitStatus).List(group.Class(class)) == nil {
		return cli.Usagef("want CLASS=LIST, with success, tempfail, failure, persistent or " +
			"terminal as CLASS")
	}

	given := exitStatus{class: group.Class(class)}
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" && list == "" {
			break // an empty list removes what is set
		}
		if err := group.CheckExitStatus(word); err != nil {
			return cli.Usagef("%q: %v", word, err)
		}
		given.ends = append(given.ends, word)
	}

	*x = append(*x, given)
	return nil
}

// apply replaces the lists of the given classes in to. The same class given twice has all its ends.
func (x exitStatuses) apply(to *group.ExitStatus) {
	for _, given := range x {
		*to.List(given.class) = nil
	}
	for _, given := range x {
		list := to.List(given.class)
		*list = append(slices.Clip(*list), given.ends...)
	}
}
