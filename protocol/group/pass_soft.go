package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// soft reports whether a service may have n as its soft signal: one that has the same number on all
// systems, because another host may judge a death by it, and that does not stop the service anyway
// (spec §26.4).
func (n SignalName) soft() bool {
	return slices.Contains([]SignalName{"HUP", "INT", "QUIT", "ALRM"}, n)
}

func IsClock(name string) bool { return name == clockRuntime || name == clockProgress }

// softKilled returns the clock that sent s, which has exited, the soft signal that killed it, or ""
// if it ended otherwise.
func (s *Service) softKilled() string {
	killed := s.Ended != nil && (s.Ended.Code == policy.CodeKilled || s.Ended.Code == policy.CodeDumped)
	if !killed || s.StartInfo == nil || s.StartInfo.SoftSignal == "" ||
		s.Ended.Status != policy.SignalNumber(string(s.StartInfo.SoftSignal)) {
		return ""
	}

	for _, clock := range []string{clockRuntime, clockProgress} {
		if s.Asked.of(clock) != nil {
			return clock
		}
	}
	return ""
}
