package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Places says of each task what Holds and Ready say.
func TestPlaces(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kinds := make(map[HoldKind]int)
	most := 0

	for range 200 {
		q := Create("q")
		q.Policy.Slots = random.Int64N(4)
		q.Policy.AgeAfter = time.Duration(random.Int64N(3)) * time.Second
		q.Policy.Backoff, q.Policy.MaxAttempts = []time.Duration{time.Minute}, 2
		at := now
		for i := range 12 {
			at = at.Add(time.Duration(random.Int64N(5)) * time.Second)
			seen := Seen{Observation: observe.Observation{Now: at}}
			n := New{ID: fmt.Sprint("t", i), Priority: random.Int64N(3), Spec: "{}"}
			if i > 0 && random.IntN(4) == 0 {
				n.After = []string{fmt.Sprint("t", random.IntN(i))}
			}
			if random.IntN(4) == 0 {
				n.Group = "g"
			}
			if random.IntN(6) == 0 {
				n.Delay = time.Hour
			}
			if after, err := q.Enqueue([]New{n}, seen); err == nil {
				q = after
			}
			if random.IntN(3) > 0 {
				continue
			}

			who := Claimer{Participant: fmt.Sprint("p", i), Deadline: time.Hour}
			after, claimed, err := q.Claim(who, "", seen)
			if err != nil || claimed == nil {
				continue
			}
			q = after
			end := []End{"", Failed, Asked, Done}[random.IntN(4)]
			if end != "" {
				q, _ = q.Settle(Settlement{Task: claimed.ID, Epoch: claimed.Claim.Epoch,
					Outcome: Outcome{End: end}}, seen)
			}
		}
		if random.IntN(8) == 0 {
			q.Halts = []Halt{{By: "ada", Reason: "lunch"}}
		}

		seen := Seen{Observation: observe.Observation{Now: at}}
		for _, p := range q.Places(seen) {
			holds := q.Holds(p.Task, seen)
			ahead, ready := q.Ready(p.Task, seen)
			if !slices.Equal(p.Holds, holds) || p.Ready() != ready || p.Ahead != ahead {
				t.Fatalf("%s: got %v, %d ahead; want %v, %d ahead\n%s", p.ID, p.Holds, p.Ahead,
					holds, ahead, q.Encode())
			}
			for _, h := range holds {
				kinds[h.Kind]++
			}
			most = max(most, ahead)
		}
	}

	for _, kind := range []HoldKind{HeldByHalt, HeldBySlots, HeldByDelay, HeldByDependency,
		HeldByGroup, HeldByPerson, HeldByClaim} {
		if kinds[kind] == 0 {
			t.Errorf("no task was held by %s", kind)
		}
	}
	if most < 3 {
		t.Errorf("at most %d tasks were ahead of another one", most)
	}
}
