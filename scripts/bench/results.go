//go:build linux

package main

import (
	"encoding/json"
	"math"
	"os"
)

// A series is what was measured of one thing, by round.
type series struct {
	name   string
	unit   string
	values []float64 // NaN: not in this round
}

// results are all series, in the order of their first values.
type results struct {
	byName map[string]*series
	all    []*series
}

// add notes a value of a round.
func (r *results) add(name, unit string, round int, value float64) {
	s := r.byName[name]
	if s == nil {
		s = &series{name: name, unit: unit}
		r.byName[name] = s
		r.all = append(r.all, s)
	}

	for len(s.values) < round {
		s.values = append(s.values, math.NaN())
	}

	s.values = append(s.values, value)
}

// measured returns the values of the rounds that have values for all names, one column for each
// name, or nil if there are none.
func (r *results) measured(names ...string) [][]float64 {
	columns := make([][]float64, len(names))
	rounds := math.MaxInt
	for _, name := range names {
		s := r.byName[name]
		if s == nil {
			return nil
		}
		rounds = min(rounds, len(s.values))
	}

rounds:
	for round := range rounds {
		for _, name := range names {
			if math.IsNaN(r.byName[name].values[round]) {
				continue rounds
			}
		}
		for i, name := range names {
			columns[i] = append(columns[i], r.byName[name].values[round])
		}
	}
	if len(columns[0]) == 0 {
		return nil
	}

	return columns
}

// values returns the values of one series.
func (r *results) values(name string) []float64 {
	columns := r.measured(name)
	if columns == nil {
		return nil
	}
	return columns[0]
}

// ratio returns the ratio of the medians of two series, over the rounds that both have, and false
// if there are none.
func (r *results) ratio(ours, peer string) (estimate, bool) {
	columns := r.measured(ours, peer)
	if columns == nil {
		return estimate{}, false
	}
	return bootstrap(columns, ratioOfMedians), true
}

// report is the JSON file.
type report struct {
	Machine []fact    `json:"machine"`
	LeftOut []string  `json:"leftOut"`
	Series  []summary `json:"series"`
	Goals   []judged  `json:"goals"`
}

// summary is a series in the JSON file.
type summary struct {
	Name          string    `json:"name"`
	Unit          string    `json:"unit"`
	Rounds        int       `json:"rounds"`
	Median        float64   `json:"median"`
	LowerQuartile float64   `json:"lowerQuartile"`
	UpperQuartile float64   `json:"upperQuartile"`
	Values        []float64 `json:"values"` // of the rounds it was in
}

func (r *results) summaries() (all []summary) {
	for _, s := range r.all {
		v := r.values(s.name)
		all = append(all, summary{s.name, s.unit, len(v), median(v), quantile(v, 0.25),
			quantile(v, 0.75), v})
	}
	return all
}

// writeJSON writes all that was measured to file, if it has a name.
func (b *bench) writeJSON(file string) error {
	if file == "" {
		return nil
	}

	text, err := json.MarshalIndent(report{
		Machine: b.machine, LeftOut: b.leftOut, Series: b.results.summaries(), Goals: b.judged,
	}, "", "  ")

	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
