package observe

// An Outcome is the result of a wait.
type Outcome string

const (
	Met        Outcome = "met"
	Impossible Outcome = "impossible" // it can no longer happen
	Pending    Outcome = "pending"
)

// OutcomeOf returns Met if that is so, else Impossible if that is so, and else Pending.
func OutcomeOf(met, impossible bool) Outcome {
	switch {
	case met:
		return Met
	case impossible:
		return Impossible
	}
	return Pending
}
