package check

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Stamp tells a changed file from an unchanged one. It does not have the time of the last change
// to the content, which anybody may set.
type Stamp struct {
	Size   int64
	Inode  int64
	Status int64 // when the file, or its inode, was changed: the ctime, in nanoseconds since 1970
	Young  bool  // it was changed so shortly before the snapshot that the next change may look the same
}

// A Snapshot is how the files of the rule `changed` were when an attempt began (spec §43).
type Snapshot struct {
	Patterns []Pattern
	Files    []Snapped // in the order of the patterns
}

// A Snapped is a file of a Snapshot.
type Snapped struct {
	Path string
	Stamp
}

// Take returns how the files of r that may change are in a. Those that do not exist, or are no
// regular files, are not in it, nor are names that are not UTF-8. Its errors are those of a: if it
// cannot tell how a file is, there is no snapshot, because the file would look new later.
func (r Rules) Take(a Attempt) (s Snapshot, err error) {
	s.Patterns = r.Changed
	seen := make(map[string]bool)
	for _, p := range r.Changed {
		paths, err := a.Matches(p)
		if err != nil && !isFact(err) {
			return Snapshot{}, fmt.Errorf("snapshot: %s: %w", p, err)
		}
		for _, path := range paths {
			stamp, err := a.Look(path)
			switch {
			case err != nil && !isFact(err):
				return Snapshot{}, fmt.Errorf("snapshot: %s: %w", path, err)
			case err == nil && !seen[path] && utf8.ValidString(path):
				seen[path] = true
				s.Files = append(s.Files, Snapped{path, stamp})
			}
		}
	}
	return s, nil
}

func isFact(err error) bool {
	_, ok := errors.AsType[Fact](err)
	return ok
}

// changed returns nil if the file at path, which is now as stamp says, was not so at the start.
func (s *Snapshot) changed(path string, stamp Stamp) error {
	for _, f := range s.Files { // at most MaxMatches for each pattern
		if f.Path != path {
			continue
		}

		switch {
		case f.Size != stamp.Size || f.Inode != stamp.Inode || f.Status != stamp.Status:
			return nil
		case f.Young:
			return errors.New("it was changed just before the start, so a change right after that " +
				"cannot be seen")
		}
		return Fact("it has not changed since the start")
	}
	return nil
}

// Encode returns s as JSON, with a newline at the end.
func (s Snapshot) Encode() string { return wire.Text(wire.Record(s.record)) }

// DecodeSnapshot returns the snapshot in text. Its errors are those of wire.DecodeStrict.
func DecodeSnapshot(text string) (Snapshot, error) {
	return wire.DecodeStrict(text, (*Snapshot).record)
}

func (s *Snapshot) record(c *wire.Codec) {
	var unknown []wire.Member // refused
	c.Record(&unknown, s.members, "changed", "files")
}

func (s *Snapshot) members(c *wire.Codec) {
	c.Own("changed", func(r *wire.Reader) {
		r.Array(func() { s.Patterns = append(s.Patterns, readPattern(r, false)) })
	}, func(w *wire.Writer) { w.Strings("changed", texts(s.Patterns)) }, wire.Always)
	wire.Objects(c, "files", &s.Files, (*Snapped).record, wire.Always)
}

func (f *Snapped) record(c *wire.Codec) {
	var unknown []wire.Member // refused
	c.Record(&unknown, f.members, "path", "size", "inode", "ctimeNs")
}

func (f *Snapped) members(c *wire.Codec) {
	c.String("path", &f.Path, wire.Always)
	c.Int64("size", &f.Size, 0, wire.Always)
	c.Int64("inode", &f.Inode, math.MinInt64, wire.Always)
	c.Int64("ctimeNs", &f.Status, math.MinInt64, wire.Always)
	c.Bool("young", &f.Young, wire.IfSet)
}
