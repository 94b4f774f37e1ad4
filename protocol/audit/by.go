package audit

import (
	"maps"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// By says who made an edit. Nothing proves it: it is what the command says.
type By struct {
	Participant string          // "": none
	Process     observe.Process // of the command
	User        string          // the number of the user, or a name where users have none
	Command     string          // how it was called, cut to MostCommand bytes

	as     int64 // of a line that was read: the line that has what this one leaves out; 0: none is
	leaves parts // what it leaves out
}

// MostCommand is how many bytes of a command's call are kept.
const MostCommand = 256

// parts are members of a By.
type parts uint8

const (
	participant parts = 1 << iota
	processID
	hostID
	bootID
	pidNamespace
	user
	command

	identity = processID | hostID | bootID | pidNamespace
	allParts = participant | identity | user | command
)

// shared returns the parts that b and other have in common.
func (b By) shared(other By) (common parts) {
	p, q := b.Process, other.Process
	for _, part := range [...]struct {
		is   parts
		same bool
	}{
		{participant, b.Participant == other.Participant},
		{processID, p.PID == q.PID && p.StartTicks == q.StartTicks && p.PidfdInode == q.PidfdInode},
		{hostID, p.HostID == q.HostID}, {bootID, p.BootID == q.BootID},
		{pidNamespace, p.PIDNamespace == q.PIDNamespace},
		{user, b.User == other.User}, {command, b.Command == other.Command},
	} {
		if part.same {
			common |= part.is
		}
	}
	return common
}

// take makes some parts of b those of other.
func (b *By) take(some parts, other By) {
	p, q := &b.Process, other.Process
	if some&participant != 0 {
		b.Participant = other.Participant
	}
	if some&processID != 0 {
		p.PID, p.StartTicks, p.PidfdInode = q.PID, q.StartTicks, q.PidfdInode
	}
	if some&hostID != 0 {
		p.HostID = q.HostID
	}
	if some&bootID != 0 {
		p.BootID = q.BootID
	}
	if some&pidNamespace != 0 {
		p.PIDNamespace = q.PIDNamespace
	}
	if some&user != 0 {
		b.User = other.User
	}
	if some&command != 0 {
		b.Command = other.Command
	}
}

// record reads or writes b. What the author of an earlier line has as well is left out, and is
// still missing when it has been read: see Authors.
func (b *By) record(c *wire.Codec, earlier author) {
	var leaves parts
	if c.Reads() {
		b.leaves = allParts
	} else if earlier.line > 0 {
		leaves = b.shared(earlier.By)
	}
	refers := earlier.line > 0
	text := func(c *wire.Codec, part parts, name string, value *string) {
		if c.String(name, value, wire.If(leaves&part == 0 && (*value != "" || refers))) {
			b.leaves &^= part
		}
	}

	c.Known(func(c *wire.Codec) {
		if as := earlier.line; c.Revision("as", &as, wire.IfSet) {
			b.as = as
		}
		text(c, participant, "participant", &b.Participant)
		p := &b.Process
		c.Object("process", func(c *wire.Codec) {
			c.Known(func(c *wire.Codec) {
				own := wire.If(leaves&processID == 0)
				if c.Int("pid", &p.PID, 0, own) {
					b.leaves &^= processID
				}
				text(c, hostID, "hostId", &p.HostID)
				text(c, bootID, "bootId", &p.BootID)
				text(c, pidNamespace, "pidNamespace", &p.PIDNamespace)
				c.Int64("startTicks", &p.StartTicks, 0, own)
				c.Int64("pidfdInode", &p.PidfdInode, 0,
					wire.If(leaves&processID == 0 && p.PidfdInode != 0))
			})
		}, wire.If(leaves&identity != identity && (*p != observe.Process{} || refers)))
		text(c, user, "user", &b.User)
		text(c, command, "command", &b.Command)
	})
}

// An author is who made the edit of a line.
type author struct {
	line int64
	By
}

// Authors knows who made the edits of lines, of which each may leave out what an earlier one has
// (spec §53.1). The zero Authors knows none.
type Authors struct {
	by map[int64]By
}

// MostBack is how far back a line may refer to another one.
const MostBack = 64

// Resolve adds to the author of l what it leaves out, if the line that has it was given to Resolve
// before. Lines come in order. It reports whether all is known.
func (a *Authors) Resolve(l *Line) (known bool) {
	known = true
	if l.By.as > 0 {
		var earlier By
		if earlier, known = a.by[l.By.as]; known {
			l.By.take(l.By.leaves, earlier)
		}
	}
	l.By.as, l.By.leaves = 0, 0

	if a.by == nil {
		a.by = make(map[int64]By)
	}
	if known {
		a.by[l.Seq] = l.By
	}
	if len(a.by) > 2*MostBack {
		maps.DeleteFunc(a.by, func(seq int64, _ By) bool { return seq < l.Seq-MostBack })
	}
	return known
}

// like returns the author of one of lines, the last ones of a record, who has most in common with b;
// the zero one if nobody has anything. A line that seals a log refers to none before it, and neither
// do those after it, because the log begins there.
func (b By) like(lines []string) (best author) {
	var authors Authors
	most := parts(0)
	for _, text := range lines {
		head, _, _ := strings.Cut(text, `,"revision":`) // as line writes it: what follows is long
		l, err := wire.DecodeRecord(head+"}", (*Line).record)
		if err == nil && l.Verb == Sealed {
			authors, most, best = Authors{}, 0, author{}
		}
		if err != nil || !authors.Resolve(&l) {
			continue
		}
		// The later parts are the longer ones, or the same for all processes of a host.
		if common := b.shared(l.By); common != 0 && common >= most {
			best, most = author{l.Seq, l.By}, common
		}
	}
	return best
}
