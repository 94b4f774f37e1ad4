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

// A LogCut is how much the log of a service has lost because the disk was full.
type LogCut struct {
	ServiceID string
	Bytes     int64
}

// LogsCut returns g after by has cut logs (spec §11.8): an alert tells of each. It returns
// wire.ErrExhausted.
func (g Group) LogsCut(cuts []LogCut, by string, seen observe.Observation) (Group, error) {
	e := g.Begin("logsCut", by, seen)
	for _, id := range g.Registry.Ordered() {
		i := slices.IndexFunc(cuts, func(c LogCut) bool { return c.ServiceID == id })
		if i >= 0 {
			e.Raise(AlertLogCut, id, "%d bytes: the disk was full", cuts[i].Bytes)
		}
	}
	return e.end()
}
