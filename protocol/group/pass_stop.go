package group

import "time"

// SettleExit completes what was recorded when s failed by how its process ended.
func (s *Service) SettleExit(now time.Time) {
	if s.Ended != nil {
		s.RecordExit(now, s.StopFor.Reason, s.StopFor.Detail)
	} else if s.LastExit != nil {
		exit := *s.LastExit
		exit.Note = s.checkpoint()
		s.LastExit = &exit
	}
	s.StopFor = nil
}
