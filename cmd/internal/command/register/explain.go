package register

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// explain prints when the service of g would be restarted, and when it would be given up, if it
// failed whenever it is started.
func explain(env *cli.Env, s *group.Service, g group.Group) error {
	if s.StartInfo == nil {
		return group.ErrNoStartInfo
	}

	p := s.History().Prospect(g.Orchestrator.Period)
	if len(p.Delays) > 0 {
		fmt.Fprintf(env.Stdout, "It is restarted after %s.\n", schedule(p))
	}

	switch {
	case p.GivenUp == "" && len(p.Delays) > 0:
		fmt.Fprintf(env.Stdout, "If it always fails at once, it is never given up: "+
			"in the end it starts %s.\n", rate(p.Delays[len(p.Delays)-1]))
	case p.GivenUp != "":
		fmt.Fprintf(env.Stdout, "If it always fails at once, it starts %s in %s, and is dead: "+
			"%s.\n", times(p.Starts), cli.Brief(p.Lasts), p.GivenUp)
	}

	if period := g.Orchestrator.Period; period > 0 {
		fmt.Fprintf(env.Stdout, "Passes come about every %s, and only they start it.\n",
			cli.Brief(period))
	}
	if p.OutOfReach > 0 {
		restart := s.StartInfo.Policy
		env.Warnf("--intensity %d/%s never takes effect: %d ends take at least %s",
			restart.Intensity, cli.Brief(restart.IntensityPeriod), restart.Intensity+1,
			cli.Brief(p.OutOfReach))
	}
	return nil
}

// schedule returns the delays of p in words.
func schedule(p policy.Prospect) string {
	var all []string
	for _, d := range p.Delays {
		all = append(all, cli.Brief(d))
	}

	last := len(all) - 1
	text := strings.Join(all[:last], ", ")
	if text != "" {
		text += ", then "
	}
	text += all[last] + " each time"
	if p.Jitter > 0 {
		text += fmt.Sprintf(", and up to %d %% more", p.Jitter)
	}
	return text
}

// rate returns how often something happens that takes d.
func rate(d time.Duration) string {
	if d == 0 {
		return "as often as passes come"
	}
	return "every " + cli.Brief(d)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
