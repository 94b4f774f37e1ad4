package group

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An ExitRecord is the content of a file in exits/ (supervision.md §19.1): what the keeper of a
// start, or systemd, has seen of the end of its process. A pass reserves it before the start, so
// that a full disk cannot lose it.
//
// Only a record whose phase is PhaseEnded has an End.
type ExitRecord struct {
	Schema    string // for editors, and otherwise ignored
	ServiceID string
	StartID   string
	Attempt   int
	PID       int
	Process   observe.Process
	Phase     ExitPhase
	End       policy.Exit
	// The keeper got TERM or HUP, as from a host that shuts down.
	KeeperSignalled bool
	Unknown         []wire.Member

	Complete   bool // its name says that nothing is added to it any more
	Unreadable bool // its file is there, and could not be read: nothing is known of it
	nested     *wire.Nested
}

// An ExitPhase says how far a start has come.
type ExitPhase string

const (
	PhaseReserved ExitPhase = "reserved" // nothing of the service has run
	PhaseExec     ExitPhase = "exec"     // the command is being executed, or runs
	PhaseEnded    ExitPhase = "ended"
)

func (p ExitPhase) valid() bool {
	return p == PhaseReserved || p == PhaseExec || p == PhaseEnded
}

// An ExitLookup returns the record of a start in exits/, and whether there is one. A record whose
// text cannot be understood has no phase.
type ExitLookup func(service, startID string) (x ExitRecord, found bool)

// An Ending is what the exit record of a start says to a pass.
type Ending struct {
	Settled  observe.Evidence // the end is on record: why it has ended; or ""
	awaited  bool             // it has ended, and its keeper has yet to say how
	unread   bool             // its record could not be read: it is awaited, but for no time
	unbegun  bool             // its command has not begun
	Consumed string           // the id of the start, if its record is not needed any more

	// how it ended according to a record that is awaited, as while its finish command runs; or nil
	finishing *policy.Exit
}

// ExitRecordSize is the size of a file in exits/ in bytes. Each text is filled up with blanks, so
// that writing it needs no space that was not reserved.
const ExitRecordSize = 4096

// longestExitError is the number of bytes of an error that surely fit into a record.
const longestExitError = 400

// Encode returns the content of the record's file: one line of JSON, and blanks.
func (x ExitRecord) Encode() string {
	x.End.Error = strings.ToValidUTF8(x.End.Error[:min(len(x.End.Error), longestExitError)], "")
	text := wire.Line(wire.Record(x.record))
	return text + strings.Repeat(" ", max(ExitRecordSize-len(text)-1, 0)) + "\n"
}

// DecodeExitRecord returns the record in text. Its errors are those of wire.Decode.
func DecodeExitRecord(text string) (ExitRecord, error) {
	return wire.DecodeRecord(text, (*ExitRecord).record)
}

func (x *ExitRecord) record(c *wire.Codec) {
	if c.Record(&x.Unknown, x.members, "supervisorId", "startId", "phase") {
		if x.Phase == PhaseEnded {
			c.Require("at")
		}
	}
}

func (x *ExitRecord) members(c *wire.Codec) {
	version := wire.Version
	c.String("$schema", &x.Schema, wire.IfSet)
	c.Version(&version)
	c.ID("supervisorId", &x.ServiceID, wire.Always)
	c.Text("startId", &x.StartID, readStartID, wire.Always)
	c.Int("attempt", &x.Attempt, 0, wire.Always)
	c.Int("pid", &x.PID, 0, wire.Always)
	x.Process.Member(c, "process", &x.nested)
	wire.Word(c, "phase", &x.Phase, "phase", ExitPhase.valid, wire.Always)
	c.Bool("keeperSignalled", &x.KeeperSignalled, wire.IfSet)
	if c.Reads() || x.Phase == PhaseEnded {
		x.End.Members(c)
	}
}

// readStartID reads the id of a start (groups.md §9.3).
func readStartID(r *wire.Reader) string {
	id := r.String()
	if !validStartID(id) {
		r.Refuse("%.40q is not 16 hexadecimal digits", id)
	}
	return id
}

// validStartID reports whether id is 16 lower-case hexadecimal digits (§9.3).
func validStartID(id string) bool {
	return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
}
