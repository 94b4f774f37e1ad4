package linearize

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// A script makes up a history: the answers of commands that run one after the other.
type script struct {
	now    operation
	events []porcupine.Operation
}

// did adds c, which was done, from one time to another.
func (s *script) did(from, to int64, c command) *porcupine.Operation {
	c.op, c.now = "op", begin+int64(len(s.events))
	after, said := s.now.do(c)
	s.now = after
	s.events = append(s.events, porcupine.Operation{ClientId: len(s.events), Input: c, Call: from,
		Output: said, Return: to})
	return &s.events[len(s.events)-1]
}

// saw adds what c, which changes nothing, would have said before.
func (s *script) saw(before operation, from, to int64, c command) {
	now := s.now
	s.now = before
	s.did(from, to, c)
	s.now = now
}

// died adds c, which said nothing and was not done.
func (s *script) died(from, to int64, c command) {
	now := s.now
	silence(s.did(from, to, c))
	s.now = now
}

func silence(e *porcupine.Operation) { e.Output = answer{silent: true} }

var (
	status = command{verb: "status"}
	pushA  = command{verb: "push", call: "a", participant: "p"}
	pushB  = command{verb: "push", call: "b", participant: "q"}
	popB   = command{verb: "pop", call: "b"}
	beatA  = command{verb: "heartbeat", call: "a"}
)

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name  string
		want  porcupine.CheckResult
		begin func(s *script) // after a push that has ended at 10
	}{
		{"one after the other", porcupine.Ok, func(s *script) {
			s.did(20, 30, pushB)
			s.did(40, 50, popB)
			s.did(60, 70, status)
		}},
		{"a killed command has made the revision", porcupine.Ok, func(s *script) {
			s.died(12, 31, popB)
			s.died(13, 29, beatA)
			silence(s.did(15, 30, beatA))
			s.did(40, 50, status)
		}},
		{"a killed command has made a revision that was covered", porcupine.Ok, func(s *script) {
			silence(s.did(15, 30, beatA))
			s.did(20, 50, beatA)
		}},
		{"who was killed did nothing", porcupine.Ok, func(s *script) {
			s.died(20, 30, pushB)
			s.did(40, 50, popB)
		}},
		{"refused while another pushes", porcupine.Ok, func(s *script) {
			s.saw(s.now, 21, 35, popB)
			s.did(20, 30, pushB)
			s.did(40, 50, status)
		}},
		{"nobody has made the revision", porcupine.Illegal, func(s *script) {
			s.did(20, 30, pushB)
			s.events = s.events[:1]
			s.did(40, 50, status)
		}},
		{"it was killed before, and made later", porcupine.Illegal, func(s *script) {
			before := s.now
			silence(s.did(20, 30, beatA))
			s.saw(before, 40, 50, status)
			s.did(60, 70, status)
		}},
		{"seen before it began", porcupine.Illegal, func(s *script) {
			silence(s.did(50, 60, beatA))
			s.did(30, 40, status)
		}},
		{"an acknowledged edit is lost", porcupine.Illegal, func(s *script) {
			before := s.now
			s.did(20, 30, pushB)
			s.now = before
			s.did(25, 35, beatA)
			s.did(40, 50, status)
		}},
		{"an old state is shown", porcupine.Illegal, func(s *script) {
			before := s.now
			s.did(20, 30, pushB)
			s.saw(before, 40, 50, status)
		}},
		{"refused though it was pushed", porcupine.Illegal, func(s *script) {
			before := s.now
			s.did(20, 30, pushB)
			s.saw(before, 40, 50, popB)
		}},
		{"refused later than another has seen the call", porcupine.Illegal, func(s *script) {
			before := s.now
			s.did(20, 90, pushB)
			s.did(30, 40, status)
			s.saw(before, 50, 60, popB)
		}},
		{"the edits were in another order", porcupine.Illegal, func(s *script) {
			s.did(40, 50, pushB)
			s.did(20, 30, beatA)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{}
			s.did(0, 10, pushA)
			test.begin(s)
			ordered, why, err := order(s.events)
			if err != nil {
				t.Fatal(err)
			}

			got := porcupine.CheckOperations(model(), ordered)
			if want := test.want == porcupine.Ok; got != want || want != (why == "") {
				t.Errorf("got %v, because of %q, want %v", got, why, test.want)
			}
		})
	}
}
