package group

import (
	"strings"
	"unicode/utf8"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A RestartFile describes the process before it to a process that is started (supervision.md
// §29.3).
type RestartFile struct {
	GroupID   string
	ServiceID string
	StartID   string // of the process that is started
	Attempt   int
	Reason    string      // of the start
	Exit      policy.Exit // of the process before
	Log       string      // the end of what is in the service's log: see LogEnd
}

// Encode returns the content of the file.
func (f RestartFile) Encode() string {
	return wire.Text(func(w *wire.Writer) {
		w.String("$schema", wire.Schema("restart"))
		w.Int("protocolVersion", wire.Version)
		w.String("orchestrationGroupId", f.GroupID)
		w.String("supervisorId", f.ServiceID)
		w.String("startId", f.StartID)
		w.Int("attempt", int64(f.Attempt))
		w.String("reason", f.Reason)
		w.Object("exit", wire.Record(f.Exit.Record))
		w.String("log", f.Log)
	})
}

// LogEndSize is the number of bytes of its log that a start gets.
const LogEndSize = 4096

// LogEnd returns the last LogEndSize bytes of log as text. It leaves out the rest of a character
// that it has cut in two, and writes U+FFFD for each run of bytes that are not UTF-8.
func LogEnd(log []byte) string {
	if len(log) > LogEndSize {
		log = log[len(log)-LogEndSize:]
		for cut := 0; cut < utf8.UTFMax-1 && len(log) > 0 && !utf8.RuneStart(log[0]); cut++ {
			log = log[1:]
		}
	}
	return strings.ToValidUTF8(string(log), string(utf8.RuneError))
}
