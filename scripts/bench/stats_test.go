//go:build linux

package main

import (
	"math"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		q, want float64
	}{
		{[]float64{5}, 0.5, 5},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{3, 1, 2}, 1, 3},
		{[]float64{0, 10}, 0.25, 2.5},
	} {
		if got := quantile(c.values, c.q); got != c.want {
			t.Errorf("quantile(%v, %v): got %v, want %v", c.values, c.q, got, c.want)
		}
	}

	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("of nothing: got %v, want NaN", got)
	}
}

// A ratio is over the rounds that both have.
func TestRatioOfSameRounds(t *testing.T) {
	r := results{byName: make(map[string]*series)}
	for round := range 9 {
		r.add("ours", "s", round, float64(2+round%3))
		if round%3 == 0 {
			r.add("peer", "s", round, 1)
		}
	}

	got, ok := r.ratio("ours", "peer")
	if want := (estimate{2, 2, 2}); !ok || got != want {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
	if _, ok := r.ratio("ours", "nobody"); ok {
		t.Error("got a ratio to nobody")
	}
	if got := r.values("peer"); !slices.Equal(got, []float64{1, 1, 1}) {
		t.Errorf("got %v", got)
	}
}

func TestVerdicts(t *testing.T) {
	r := results{byName: make(map[string]*series)}
	for round, v := range []float64{2, 3, 9} {
		r.add("ours", "s", round, v)
		r.add("peer", "s", round, 1)
		r.add("tenfold", "s", round, 10*v-9)
	}

	for _, c := range []struct {
		goal goal
		want string
	}{
		{goal{Ours: "ours", Peer: "peer", Limit: 3}, holds},
		{goal{Ours: "ours", Peer: "peer", Limit: 2.9}, missed},
		{goal{Ours: "ours", Peer: "peer", Limit: 3, Least: true}, holds},
		{goal{Ours: "ours", Peer: "peer", Limit: 3.1, Least: true}, missed},
		{goal{Ours: "ours", Limit: 3}, holds},
		{goal{Ours: "ours", Limit: 3, Worst: true}, missed},
		{goal{Ours: "tenfold", Peer: "ours", Start: "peer", Work: 10, Limit: 1}, holds},
		{goal{Ours: "tenfold", Peer: "ours", Start: "peer", Work: 9, Limit: 1.1}, missed},
		{goal{Ours: "ours", Peer: "nobody", Limit: 3}, notMeasured},
	} {
		if got := c.goal.judge(&r); got.Verdict != c.want {
			t.Errorf("%+v: got %s of %v, want %s", c.goal, got.Verdict, got.Measured, c.want)
		}
	}
}
