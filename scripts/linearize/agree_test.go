package linearize

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// free is the model with which porcupine explains a history without a given order: after a silent
// command there are two states. That ends only for short histories.
func free() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{operation{}} },
		Step: func(state, input, output any) []any {
			before, said := state.(operation), output.(answer)
			after, foreseen := before.do(input.(command))
			switch {
			case said.silent && foreseen.changed:
				return []any{before, after}
			case said.silent || foreseen.equal(said):
				return []any{after}
			}

			return nil
		},
		Equal: func(a, b any) bool { return a.(operation).equal(b.(operation)) },
	}

	return m.ToModel()
}

// On short histories, some with a fault, the verdict is that of porcupine without an order.
func TestOrderAgrees(t *testing.T) {
	rng, verdicts := rand.New(rand.NewPCG(rig.Seed(t), 0)), map[bool]int{}
	for range 1000 {
		events := random(rng)
		want := porcupine.CheckOperations(free(), events)
		ordered, why, err := order(events)
		if err != nil {
			t.Fatal(err)
		}
		if got := porcupine.CheckOperations(model(), ordered); got != want || got != (why == "") {
			t.Fatalf("got %v, because of %q, want %v:%s", got, why, want, lines(events))
		}

		verdicts[want]++
	}

	t.Log(verdicts)
	if verdicts[true] < 100 || verdicts[false] < 100 {
		t.Errorf("got %v, want both verdicts more often", verdicts)
	}
}

// random makes up a history. Like recorded ones it ends with a status, while no other command runs.
func random(rng *rand.Rand) []porcupine.Operation {
	commands := []command{
		pushA, pushB, popB, beatA, status, {verb: "pop", call: "a"},
		{verb: "pop", call: "a", keepOpen: true}, {verb: "heartbeat", call: "b"},
		{verb: "abort"}, {verb: "cleanup"}, {verb: "cleanup"}, {verb: "heartbeat", supervisor: "s"},
		{verb: "heartbeat", supervisor: "s"},
	}

	s, before := &script{}, operation{}
	for at := int64(100); at < 100+10*int64(6+rng.IntN(12)); at += 10 {
		c, from, to := commands[rng.IntN(len(commands))], at-rng.Int64N(40), at+rng.Int64N(40)
		now := s.now
		switch n := rng.IntN(10); {
		case n == 0:
			s.died(from, to, c)
		case n <= 2:
			silence(s.did(from, to, c))
		case n == 3:
			s.saw(before, from, to, c) // as if the last edit had not been
		default:
			s.did(from, to, c)
		}

		if !s.now.equal(now) {
			before = now
		}
	}

	s.did(1000, 1001, status)
	return s.events
}
