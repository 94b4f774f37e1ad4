//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many times an interval draws the rounds anew.
const resamples = 1000

// quantile returns the q-quantile of values, interpolated if necessary, and NaN if there are no
// values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// An estimate is a number, and the interval that it is in with a probability of 95 %.
type estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// bootstrap returns statistic of the columns, with the interval that results from resampling
// rounds: columns[i][r] belongs to round r, and a round is drawn with all its columns. The same
// columns give the same interval.
func bootstrap(columns [][]float64, statistic func(columns [][]float64) float64) estimate {
	random := rand.New(rand.NewPCG(1, 2))
	rounds := len(columns[0])
	drawn := make([][]float64, len(columns))
	for i := range drawn {
		drawn[i] = make([]float64, rounds)
	}

	results := make([]float64, resamples)
	for n := range results {
		for r := range rounds {
			from := random.IntN(rounds)
			for i := range columns {
				drawn[i][r] = columns[i][from]
			}
		}
		results[n] = statistic(drawn)
	}

	return estimate{statistic(columns), quantile(results, 0.025), quantile(results, 0.975)}
}

// ratioOfMedians is the statistic that most goals are about.
func ratioOfMedians(columns [][]float64) float64 { return median(columns[0]) / median(columns[1]) }
