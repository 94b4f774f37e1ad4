package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A situation is what a pass knows before it plans anything. Planning does not change it.
type situation struct {
	group    group.Group // as it was, with the graces of the pass
	seen     observe.Observation
	judged   judgements
	children map[string]*childView // of services that are groups, by the id of the service
	failover bool
	room     *int     // how many starts the pass may make; nil: any number
	started  []string // services that earlier rounds have started
}

// Premises are what a pass has decided for the group as a whole. What it does about a service
// depends on them. Its zero value is that of a group that runs, and in which nothing has failed.
type premises struct {
	charges []time.Time     // failures that count for the limit of the group, with those of this pass
	parked  map[string]bool // services that this pass gives up for that limit
	set     set             // what restarts together
	end     group.GroupEnd  // of the group
}

// ends reports whether the group is ending or has ended, so that nothing is started.
func (p *premises) ends() bool { return p.end.State != group.GroupRunning }

// ending returns the end of a group that begins to end.
func ending(reason policy.EndReason, format string, args ...any) group.GroupEnd {
	return group.GroupEnd{State: group.GroupEnding, Reason: reason,
		Message: fmt.Sprintf(format, args...)}
}

// A set is what a pass finds out about the services that it restarts together (supervision.md
// §22.3).
type set struct {
	members map[string]bool
	cause   string    // the service whose failure widens it in this pass, or "": none
	due     time.Time // when the last of the failed ones may start
	waits   bool      // that time has not come yet
	held    bool      // something of a member must still be stopped
}

// mustWait reports whether the service id must not start yet because of the others in s.
func (s *set) mustWait(id string) bool { return s.members[id] && (s.held || s.waits) }

// inOrder returns the members of s in the order of r.
func (s *set) inOrder(r group.Registry) []string {
	if len(s.members) == 0 {
		return nil
	}
	return slices.DeleteFunc(r.Ordered(), func(id string) bool { return !s.members[id] })
}

// mustEnd reports whether something of a service must end before its set starts. What waits for
// dependencies has ended already; if a process is there again, somebody else has started it.
func mustEnd(j group.Judgement, seen observe.Observation) bool {
	switch j.Service.State {
	case group.StateRegistered, group.StateWaiting:
		return false
	}
	return j.Held(seen) || !j.Checkable && j.Heard
}

// latest returns the later of a and b.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
