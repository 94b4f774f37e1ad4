package policy

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Prospect is what becomes of a service that fails whenever it is started: the worst that its
// restart policy allows.
type Prospect struct {
	Delays []time.Duration // before the first restarts, without jitter; the last one repeats
	Jitter int             // percent of a delay that may be added

	Starts  int           // before it is given up; 0: it never is
	Lasts   time.Duration // from the first of its ends until then
	GivenUp string        // why, as in the alert supervisorDead; "": it never is

	// the time in which it ends so often that its intensity is exceeded, if that is longer than its
	// period, so that the limit never takes effect; else 0
	OutOfReach time.Duration
}

// longestProspect is how many starts are tried before a service is said to be restarted for ever.
const longestProspect = 10_000

// Prospect returns what becomes of the service of h if nothing has happened to it yet, and it fails
// whenever it is started, with passes every period, or, if that is 0, as soon as they are due.
func (h *History) Prospect(period time.Duration) Prospect {
	policy := h.Policy
	found := Prospect{Delays: policy.schedule(), Jitter: policy.JitterPercent}
	if n := policy.Intensity; policy.IntensityPeriod != 0 {
		if takes := policy.fastest(n, period); takes > policy.IntensityPeriod {
			found.OutOfReach = takes
		}
	}

	trial := History{Service: h.Service, Policy: policy, Type: h.Type, Restartable: h.Restartable}
	trial.Policy.JitterPercent = 0
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	now := begin
	for starts := 1; starts <= longestProspect; starts++ {
		trial.FailedAt = now
		trial.Last = &Exit{At: now, Reason: string(observe.Exited), Class: Failure}
		trial.Count(trial.Last, now)
		if why := trial.GivenUp(); why != "" {
			found.Starts, found.Lasts, found.GivenUp = starts, now.Sub(begin), why
			return found
		}

		now = now.Add(atPass(trial.RestartAt(now).Sub(now), period))
		trial.Attempts++
	}
	return found
}

// schedule returns the delays before the restarts of p until they stay the same, or are over.
func (p RestartPolicy) schedule() (delays []time.Duration) {
	const shown = 64
	most := p.MaxAttempts
	if most == Unlimited || most > shown {
		most = shown
	}
	for n := range most {
		delays = append(delays, p.delay(n))
	}
	for len(delays) > 1 && delays[len(delays)-1] == delays[len(delays)-2] {
		delays = delays[:len(delays)-1]
	}
	return delays
}

// fastest returns the least time in which n restarts after one another can be made, with passes
// every period.
func (p RestartPolicy) fastest(n int, period time.Duration) time.Duration {
	n = min(n, longestProspect)
	delays := []time.Duration{}
	for i := range n + len(p.Backoff) {
		delays = append(delays, atPass(p.delay(i), period))
	}

	least := time.Duration(-1)
	for from := 0; from+n <= len(delays); from++ {
		sum := time.Duration(0)
		for _, d := range delays[from : from+n] {
			sum += d
		}
		if least < 0 || sum < least {
			least = sum
		}
	}
	return max(least, 0)
}

// atPass returns when the first pass is made that is at least delay after one that is made every
// period.
func atPass(delay, period time.Duration) time.Duration {
	if period <= 0 {
		return delay
	}
	return max((delay+period-1)/period, 1) * period
}
