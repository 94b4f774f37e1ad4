package observe

import "github.com/dpl-project/dpl/protocol/wire"

// What follows is for records that do not have a method for their members yet.

// ReadBeat reads a beat. Its unknown members are added to nested as those of in.
func ReadBeat(r *wire.Reader, nested **wire.Nested, in string) (b Beat) {
	r.Codec().Nested(nested, in, b.members)
	return b
}

// Write writes b and the unknown members of name, or nothing if b is zero.
func (b Beat) Write(w *wire.Writer, name string, nested *wire.Nested) {
	b.Member(w.Codec(), name, &nested)
}

// ReadProcess reads a process. Its unknown members are added to nested as those of in.
func ReadProcess(r *wire.Reader, nested **wire.Nested, in string) (p Process) {
	r.Codec().Nested(nested, in, p.members)
	return p
}

// Write writes p and the unknown members of name, or nothing if p is zero.
func (p Process) Write(w *wire.Writer, name string, nested *wire.Nested) {
	p.Member(w.Codec(), name, &nested)
}

// ReadMember reads the member name, and reports whether it is heartbeats, process, beat or grace.
func (v *Vitals) ReadMember(r *wire.Reader, name string) bool {
	switch name {
	case "heartbeats":
		v.Heartbeats = r.Bool()
	case "process":
		v.Process = ReadProcess(r, &v.nested, name)
	case "beat":
		v.Beat = ReadBeat(r, &v.nested, name)
	case "grace":
		v.Grace = &Grace{}
		v.Grace.record(r.Codec())
	default:
		return false
	}
	return true
}

// Write writes the members process, beat and grace.
func (v *Vitals) Write(w *wire.Writer) { v.Members(w.Codec()) }

// ReadMember reads the member name, and reports whether it is readiness or note.
func (n *Notice) ReadMember(r *wire.Reader, name string) bool {
	switch name {
	case "readiness":
		n.Readiness = wire.ReadWord(r, "readiness", Readiness.Valid)
	case "note":
		n.Note = r.String()
	default:
		return false
	}
	return true
}

// Write writes the members readiness and note.
func (n Notice) Write(w *wire.Writer) { n.Members(w.Codec()) }
