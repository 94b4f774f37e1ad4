package group

// A LogTarget says where the output of services goes that are started from now on (spec §11.8).
type LogTarget string

const (
	LogFiles   LogTarget = ""        // to a file of each service
	LogJournal LogTarget = "journal" // to the journal of systemd
)

// JournalName returns the SYSLOG_IDENTIFIER by which the output of a service is found in the
// journal. No two services share one, because no id contains a slash.
func JournalName(groupID, service string) string { return "dpl/" + groupID + "/" + service }

// A LogFile identifies the file to which a start writes its output, whatever its names (spec §11.8).
type LogFile struct{ Device, Inode int64 }
