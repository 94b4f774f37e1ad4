package plan

import (
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An Action is something a pass asks for: a [Start] or a [Signal] (groups.md §11.3, §11.4), or a
// [Begin] or a [Finish] of another group (supervision.md §24.3).
type Action interface{ action() }

// A Start asks for a process that becomes a service.
type Start struct {
	ServiceID string
	Attempt   int
	Reason    string
	After     *policy.Exit // of the process before; nil: there was none. It must not be changed
}

func (Start) action() {}

// A Signal asks for a signal to the processes of a service.
type Signal struct {
	ServiceID string
	Name      group.SignalName
	To        Scope
	PID       int
	Process   observe.Process
}

func (Signal) action() {}

// A Scope says which processes of a service get a signal.
type Scope string

const (
	ToProcess   Scope = "process"   // only its process
	ToGroup     Scope = "group"     // the process group that its process leads
	ToSurvivors Scope = "survivors" // the remaining processes of its start
)

// A Begin asks for a group to begin: see [Group.BeginGroup]. It is repeated until the group shows
// it.
type Begin struct {
	Group  string
	Parent group.Parent
}

func (Begin) action() {}

// A Finish asks for a group to end: see [Group.EndGroup]. It is repeated until the group shows it.
type Finish struct {
	Group  string
	Parent group.Parent
}

func (Finish) action() {}

// parentOf returns s as the parent of the group that it is.
func parentOf(g group.Group, s *group.Service) group.Parent {
	return group.Parent{Group: g.ID, Service: s.ID, Generation: s.Generation}
}
