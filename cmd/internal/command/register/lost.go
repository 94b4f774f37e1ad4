package register

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// A setting is what a flag says about a service, if a COMMAND without that flag sets it back to its
// default. Another flag may set it as well.
type setting struct {
	flag, other string
	of          func(s *group.Service) any
}

// settings has all of them, in the order of --help, except --env.
func settings() []setting {
	of := func(get func(s *group.StartInfo) any) func(*group.Service) any {
		return func(s *group.Service) any { return get(s.StartInfo) }
	}
	type start = group.StartInfo
	return []setting{
		{"exit-status", "", of(func(s *start) any { return s.ExitStatus })},
		{"env-file", "", of(func(s *start) any { return s.EnvironmentFile })},
		{"dir", "", of(func(s *start) any { return s.Dir })},
		{"max-attempts", "", of(func(s *start) any { return s.Policy.MaxAttempts })},
		{"backoff", "", of(func(s *start) any { return []any{s.Policy.Backoff, s.Policy.Exponential} })},
		{"jitter", "", of(func(s *start) any { return s.Policy.JitterPercent })},
		{"deadline", "", of(func(s *start) any { return s.Policy.Deadline })},
		{"intensity", "", of(func(s *start) any {
			return []any{s.Policy.Intensity, s.Policy.IntensityPeriod}
		})},
		{"reset-after", "", of(func(s *start) any { return s.Policy.ResetAfter })},
		{"umask", "", of(func(s *start) any { return s.Context.Umask })},
		{"nofile", "", of(func(s *start) any {
			return []any{s.Context.NofileSoft, s.Context.NofileHard}
		})},
		{"nice", "", of(func(s *start) any { return s.Context.Nice })},
		{"oom-score-adj", "", of(func(s *start) any { return s.Context.OOMScoreAdj })},
		{"soft-timeout", "", of(func(s *start) any { return s.RuntimeSoft })},
		{"timeout", "", of(func(s *start) any { return s.RuntimeMax })},
		{"soft-signal", "", of(func(s *start) any { return s.SoftSignal })},
		{"stuck", "", of(func(s *start) any { return []any{s.ProgressSoft, s.ProgressMax} })},
		{"budget", "no-budget", of(func(s *start) any { return s.Budget.Limits })},
		{"budget-action", "", of(func(s *start) any { return s.Budget.Action })},
		{"preflight", "no-preflight", of(func(s *start) any { return s.Preflight })},
		{"preflight-timeout", "", of(func(s *start) any { return s.PreflightTimeout })},
		{"finish", "no-finish", of(func(s *start) any { return s.Finish })},
		{"finish-timeout", "", of(func(s *start) any { return s.FinishTimeout })},
		{"health", "no-health", of(func(s *start) any { return s.Health.Command })},
		{"health-every", "", of(func(s *start) any { return s.Health.Every })},
		{"health-timeout", "", of(func(s *start) any { return s.Health.Timeout })},
		{"health-failures", "", of(func(s *start) any { return s.Health.Failures })},
		{"health-start", "", of(func(s *start) any { return s.Health.Start })},
		{"significant", "", func(s *group.Service) any { return s.Significant }},
		{"log-max", "", of(func(s *start) any { return s.LogMax })},
		{"log-every", "", of(func(s *start) any { return s.LogEvery })},
		{"log-keep", "", of(func(s *start) any { return s.LogKeep })},
		{"log-compress", "", of(func(s *start) any { return s.LogCompress })},
		{"no-restart", "restart", func(s *group.Service) any { return s.Restartable }},
		{"readiness", "", of(func(s *start) any { return s.Readiness })},
		{"heartbeat", "", func(s *group.Service) any { return s.Heartbeats }},
	}
}

// warnLost names the settings of before that after has not, because no flag has given them.
func (c *register) warnLost(env *cli.Env, before *group.Service, after *group.Service) {
	if before == nil || before.StartInfo == nil || c.Fresh ||
		len(c.Command) == 0 && c.ChildGroup == "" {
		return
	}

	var lost []string
	for _, s := range settings() {
		if !c.Given(s.flag, s.other) && fmt.Sprint(s.of(before)) != fmt.Sprint(s.of(after)) {
			lost = append(lost, "--"+s.flag)
		}
	}
	for _, v := range before.StartInfo.Environment {
		if !slices.Contains(group.RecordedVariables(), v.Name) && !group.IsLocale(v.Name) &&
			!slices.ContainsFunc(after.StartInfo.Environment,
				func(w group.Variable) bool { return w.Name == v.Name }) {
			lost = append(lost, "--env "+v.Name)
		}
	}
	if len(lost) == 0 {
		return
	}

	verb, them := "loses", "them"
	if env.DryRun() {
		verb = "would lose"
	}
	if len(lost) == 1 {
		them = "it"
	}
	env.Warnf("%s: %q %s %s: give %s again to keep %s", c.Group, c.Service, verb,
		strings.Join(lost, ", "), them, them)
}
