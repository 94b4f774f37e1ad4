package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A LogTarget says where the output of services goes that are started from now on (spec §11.8).
type LogTarget string

const (
	LogFiles   LogTarget = ""        // to a file of each service
	LogJournal LogTarget = "journal" // to the journal of systemd
)

// JournalName returns the SYSLOG_IDENTIFIER by which the output of a service is found in the
// journal. No two services share one, because no id contains a slash.
func JournalName(groupID, service string) string { return "dpl/" + groupID + "/" + service }

// A LogFile identifies the file to which a start writes its output, whatever its names (spec
// §11.8).
type LogFile struct{ Device, Inode int64 }

// dueLogs returns the services whose logs have had a time of rotation since the last pass, in
// order. These times are the multiples of LogEvery since the year 1, which began on a Monday: so
// days and weeks begin as in a calendar of UTC, and no file has to record them.
func (e *edit) dueLogs() (due []string) {
	last, now := e.before.Orchestrator.Heartbeat, e.seen.Now
	if last.IsZero() {
		return nil
	}
	return e.g.Registry.orderedIf(func(s *Service) bool {
		i := s.StartInfo
		return i != nil && i.LogEvery > 0 && last.Truncate(i.LogEvery).Before(now.Truncate(i.LogEvery))
	})
}

// A LogCut is how much the log of a service has lost because the disk was full.
type LogCut struct {
	ServiceID string
	Bytes     int64
}

// LogsCut returns g after by has cut logs (spec §11.8): an alert tells of each. It returns
// wire.ErrExhausted.
func (g Group) LogsCut(cuts []LogCut, by string, seen observe.Observation) (Group, error) {
	e := g.begin("logsCut", by, seen)
	for _, id := range g.Registry.ordered() {
		i := slices.IndexFunc(cuts, func(c LogCut) bool { return c.ServiceID == id })
		if i >= 0 {
			e.raise(AlertLogCut, id, "%d bytes: the disk was full", cuts[i].Bytes)
		}
	}
	return e.end()
}
