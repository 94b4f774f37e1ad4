package group

import (
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An ExitRecord is the content of a file in exits/ (spec §19.1): what the keeper of a start, or
// systemd, has seen of the end of its process. A pass reserves it before the start, so that a full
// disk cannot lose it.
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
	End       LastExit
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

// ExitRecordSize is the size of a file in exits/ in bytes. Each text is filled up with blanks, so
// that writing it needs no space that was not reserved.
const ExitRecordSize = 4096

// longestExitError is the number of bytes of an error that surely fit into a record.
const longestExitError = 400

// Encode returns the content of the record's file: one line of JSON, and blanks.
func (x ExitRecord) Encode() string {
	x.End.Error = strings.ToValidUTF8(x.End.Error[:min(len(x.End.Error), longestExitError)], "")
	text := wire.Line(func(w *wire.Writer) {
		w.OptString("$schema", x.Schema)
		w.Int("protocolVersion", wire.Version)
		w.String("supervisorId", x.ServiceID)
		w.String("startId", x.StartID)
		w.Int("attempt", int64(x.Attempt))
		w.Int("pid", int64(x.PID))
		x.Process.Write(w, "process", x.nested)
		w.String("phase", string(x.Phase))
		w.OptBool("keeperSignalled", x.KeeperSignalled)
		if x.Phase == PhaseEnded {
			x.End.writeMembers(w)
		}
		w.Unknown(x.Unknown)
	})

	return text + strings.Repeat(" ", max(ExitRecordSize-len(text)-1, 0)) + "\n"
}

// DecodeExitRecord returns the record in text. Its errors are those of wire.Decode.
func DecodeExitRecord(text string) (ExitRecord, error) {
	return wire.Decode(text, 0, readExitRecord)
}

func readExitRecord(r *wire.Reader) (x ExitRecord) {
	r.Object(func(name string) {
		switch name {
		case "$schema":
			x.Schema = r.String()
		case "protocolVersion":
			r.Version()
		case "supervisorId":
			x.ServiceID = r.ID()
		case "startId":
			x.StartID = readStartID(r)
		case "attempt":
			x.Attempt = int(r.Int(0))
		case "pid":
			x.PID = int(r.Int(0))
		case "process":
			x.Process = observe.ReadProcess(r, &x.nested, name)
		case "phase":
			x.Phase = wire.ReadWord(r, "phase", ExitPhase.valid)
		case "keeperSignalled":
			x.KeeperSignalled = r.Bool()
		default:
			if !x.End.readMember(r, name) {
				r.Unknown(&x.Unknown, name)
			}
		}
	})

	r.Require("supervisorId", "startId", "phase")
	if x.Phase == PhaseEnded {
		r.Require("at")
	}
	return x
}

// of reports whether x, the record of the start of s, is about its current process. One that cannot
// be understood counts as such.
func (x ExitRecord) of(s *Service) bool {
	return x.Phase == "" || x.ServiceID == s.ID && x.StartID == s.StartID && x.PID == s.PID &&
		observe.Identity(x.PID, x.Process).Is(s.Identity())
}
