package policy

import (
	"testing"
	"time"
)

func TestProspect(t *testing.T) {
	grows := RestartPolicy{MaxAttempts: Unlimited,
		Exponential: Exponential{Initial: 2 * time.Second, Factor: 2, Max: time.Minute}}
	for name, c := range map[string]struct {
		policy       func(*RestartPolicy)
		period       time.Duration
		starts       int
		lasts, takes time.Duration
		givenUp      string
	}{
		"for ever": {policy: func(*RestartPolicy) {}},
		"attempts": {func(p *RestartPolicy) { p.MaxAttempts = 3 },
			0, 4, 14 * time.Second, 0, "3 attempts"},
		"attempts, by a cron": {func(p *RestartPolicy) { p.MaxAttempts = 3 },
			time.Minute, 4, 3 * time.Minute, 0, "3 attempts"},
		"intensity": {func(p *RestartPolicy) { p.Intensity, p.IntensityPeriod = 2, time.Minute },
			0, 3, 6 * time.Second, 0, "3 ends in 60 s"},
		"out of reach": {func(p *RestartPolicy) { p.Intensity, p.IntensityPeriod = 5, time.Minute },
			0, 0, 0, 62 * time.Second, ""},
		"out of reach of a cron": {func(p *RestartPolicy) { p.Intensity, p.IntensityPeriod = 2, time.Minute },
			time.Minute, 0, 0, 2 * time.Minute, ""},
		"deadline": {func(p *RestartPolicy) { p.Deadline = 10 * time.Second },
			0, 3, 6 * time.Second, 0, "deadline 10 s"},
	} {
		t.Run(name, func(t *testing.T) {
			h := History{Service: "s", Policy: grows, Restartable: true}
			c.policy(&h.Policy)
			got := h.Prospect(c.period)
			if got.Starts != c.starts || got.Lasts != c.lasts || got.GivenUp != c.givenUp ||
				got.OutOfReach != c.takes {
				t.Errorf("got %+v", got)
			}
			if len(got.Delays) > 6 {
				t.Errorf("delays %v", got.Delays)
			}
		})
	}
}
