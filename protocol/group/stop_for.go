package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A StopFor says why passes stop a service on their own, and what follows once it is no
// longer held (supervision.md §26.1).
type StopFor struct {
	Reason  string
	Detail  string
	Then    Then
	Unknown []wire.Member
}

// A Then is what follows a stop.
type Then string

const (
	ThenRestart Then = "restart" // the rules of a failure: it is started again, or given up
	ThenDead    Then = "dead"
	ThenPark    Then = "park" // dead, for the intensity of its group
	ThenStopped Then = "stopped"
)

// String returns what people read, such as "timeout: runtime".
func (s *StopFor) String() string { return policy.Exit{Reason: s.Reason, Detail: s.Detail}.String() }

func (t Then) valid() bool {
	return t == ThenRestart || t == ThenDead || t == ThenPark || t == ThenStopped
}

// with returns s with what follows.
func (s *StopFor) with(then Then) *StopFor {
	if s.Then == then {
		return s
	}
	after := *s
	after.Then = then
	return &after
}

func (s *StopFor) record(c *wire.Codec) { c.Record(&s.Unknown, s.members, "reason", "then") }

func (s *StopFor) members(c *wire.Codec) {
	c.String("reason", &s.Reason, wire.Always)
	c.String("detail", &s.Detail, wire.IfSet)
	wire.Word(c, "then", &s.Then, "what follows a stop", Then.valid, wire.Always)
}
