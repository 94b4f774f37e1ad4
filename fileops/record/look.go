package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An end is what is found at the end of a log that does not end as expected.
type end struct {
	last     audit.Line // the last one with a number above those of the chain, or none
	complete int64      // the end of the last complete line
	anchored bool       // the last line that is not pending is there
	anchor   int64      // its end
	there    int        // without it: how many of the pending lines are there, one after the other
	sealed   int        // how many of the pending lines are in a sealed part
	before   audit.Sealing
	err      error
}

// longTail is more than edits leave pending.
const longTail = 32 << 10

// look looks for the end of chain in the log, from last to first line.
func (g *Log) look(chain audit.Chain, tail string) (found end) {
	anchor := chain.Head
	if len(chain.Pending) > 0 {
		first, err := audit.Parse(chain.Pending[0])
		if err != nil {
			return end{err: fmt.Errorf("a pending line: %w", err)}
		}
		anchor = first.Prev
	}

	size := int64(len(tail))
	for lines := 0; ; {
		text, err := g.readTail(size)
		if err != nil {
			return end{err: err}
		}
		found, lines = scanBack(text, chain, anchor)
		whole := size >= g.size
		found.complete += g.size - int64(len(text))
		found.anchor += g.size - int64(len(text))
		if found.last.Seq > chain.Seq || found.anchored || whole ||
			lines > 8*audit.MostPending && size > longTail {
			break
		}
		size = max(4*size, longTail)
	}

	if !found.anchored && found.last.Seq <= chain.Seq && size >= g.size {
		g.lookBefore(chain, anchor, &found)
	}
	return found
}

func (g *Log) readTail(size int64) (string, error) {
	if g.file == nil {
		return "", nil
	}
	size = min(size, g.size)
	return g.read(g.size-size, size)
}

// scanBack looks for the line with the hash anchor among the lines of text, from last to first.
// Offsets are those in text.
func scanBack(text string, chain audit.Chain, anchor string) (found end, lines int) {
	text = text[:strings.LastIndexByte(text, '\n')+1]
	found.complete = int64(len(text))

	for end := len(text); end > 0; lines++ {
		start := strings.LastIndexByte(text[:end-1], '\n') + 1
		line := text[start : end-1]
		switch {
		case line == "":
		case wire.Hash(line) == anchor:
			found.anchored, found.anchor = true, int64(end)
			return found, lines
		case slices.Contains(chain.Pending, line):
			if lines == 0 {
				found.there = slices.Index(chain.Pending, line) + 1
			}
		default:
			l, err := audit.Parse(line)
			if err == nil && l.Seq > max(chain.Seq, found.last.Seq) {
				found.last = l
			}
			if found.last.Seq > 0 && l.Seq < found.last.Seq {
				return found, lines
			}
		}
		end = start
	}
	return found, lines
}

// lookBefore looks for the end of chain in the parts before the log, none of whose lines is known:
// all of them are new, or it is empty.
func (g *Log) lookBefore(chain audit.Chain, anchor string, found *end) {
	sealed, last, err := g.lastSealed()
	if last.Seq > 0 && last.Hash == chain.Head && g.size == 0 {
		found.before = sealed
	}
	switch {
	case err != nil:
		found.err = err
	case last.Seq > chain.Seq:
		found.last = last
	case last.Hash == anchor:
		found.anchored, found.anchor = true, 0
	case slices.Contains(chain.Pending, last.Text): // a process was killed after it had sealed the log
		found.anchored, found.anchor = true, 0
		found.sealed = slices.Index(chain.Pending, last.Text) + 1
	}
}

// lastSealed returns the last of the sealed parts of r, and its last line; zero ones if there is
// none.
func (r Record) lastSealed() (part audit.Sealing, last audit.Line, err error) {
	parts, err := r.Parts()
	if err != nil || len(parts) == 0 {
		return part, last, err
	}

	g := r.openToRead(layout.PartOf(r.Path, parts[len(parts)-1]))
	defer g.Close()
	if g.Err != nil || g.file == nil {
		return part, last, errors.Join(g.Err, fs.ErrNotExist)
	}
	tail, err := g.tail(audit.Chain{})
	if err != nil {
		return part, last, err
	}
	lines := strings.Split(tail, "\n")
	for _, text := range slices.Backward(lines[:len(lines)-1]) {
		if l, err := audit.Parse(text); err == nil {
			return audit.Sealing{Part: int64(parts[len(parts)-1]), Head: l.Hash}, l, nil
		}
	}
	return part, last, nil
}
