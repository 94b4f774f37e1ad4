package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Log is the log of an object in an edit of it: its last part, to which lines are appended.
// Only the holder of the object's lock writes it. The calls of an edit are
//
//	openat     queues/q.audit.jsonl          # before the commit: its end is compared with the chain
//	fstat      queues/q.audit.jsonl
//	pread64    queues/q.audit.jsonl
//	ftruncate  queues/q.audit.jsonl          # only if the lines that are pending are many
//	write      queues/q.audit.jsonl          # they are written again
//	fsync      queues/q.audit.jsonl
//	…                                        # the commit, with the new lines as pending
//	write      queues/q.audit.jsonl          # after it: what is not there yet
//	close      queues/q.audit.jsonl
//
// A line is pending until it was synced here, before a commit that no longer has it. So a kill
// loses none. A power cut may lose or tear what was not synced, which is pending: the next edit
// cuts the log after the last line before those, and writes them again.
type Log struct {
	Record
	Inode  int64         // of the log; 0: it has none, or there is no log
	Fits   bool          // it has the last line that is not pending
	Err    error         // why the log cannot be opened or written
	Before audit.Sealing // the part before, if that ends where the next line begins

	held func() error // returns an error if the lock of the object is lost
	file disk.File    // nil: there is no log, or it cannot be opened
	size int64

	anchor int64 // the end of the last line that is not pending
	end    int64 // the end of the last line of the chain that is there
	there  int   // how many of the pending lines are
	sealed int   // how many of these are in a sealed part
}

// Open opens the log of r, if there is one, for an edit of its object. held returns an error if the
// lock of the object is lost. The caller must close the log.
func (r Record) Open(held func() error) *Log {
	g := &Log{Record: r, held: held}
	g.open(r.fs.OpenAppend)
	return g
}

// openToRead opens the file of r at path, if there is one, for reading only.
func (r Record) openToRead(path string) *Log {
	r.Path = path
	g := &Log{Record: r}
	g.open(r.fs.Open)
	return g
}

func (g *Log) open(open func(string) (disk.File, error)) {
	f, info, err := g.fs.OpenFile(g.Path, open)
	switch {
	case err == nil && info.Size > mostLog:
		f.Close()
		g.Err = fmt.Errorf("%w: a log of more than %d MiB, which no command has written",
			wire.ErrCorrupt, mostLog>>20)
	case err == nil:
		g.file, g.size, g.Err = f, info.Size, nil
		g.Inode = info.ID.Number()
	case !errors.Is(err, fs.ErrNotExist):
		g.Err = err
	}
}

// mostLog is more than a log has before it is sealed: 8 MiB, or twice an object and a line.
const mostLog = 2 * trust.MaxFile

// Close closes the log.
func (g *Log) Close() {
	if g.file != nil {
		g.file.Close()
		g.file = nil
	}
}

// Follow compares the end of the log with chain, which the object's file has. If the log has later
// lines the file was set back, and Follow returns a chain that goes on after those.
func (g *Log) Follow(chain audit.Chain) (_ audit.Chain, restored bool) {
	if g.Err != nil {
		return chain, false
	}

	tail, err := g.tail(chain)
	if err != nil {
		g.Err = err
		return chain, false
	}
	if g.isAsExpected(chain, tail) {
		g.Fits = true
		return chain, false
	}

	found := g.look(chain, tail)
	if found.err != nil {
		g.Err = found.err
	}
	if found.last.Seq > chain.Seq {
		chain.Seq, chain.Head, chain.Pending = found.last.Seq, found.last.Hash, nil
		if last, _, err := g.lastSealed(); err == nil && last.Part > chain.Sealed.Part {
			chain.Sealed = last
		}
		g.anchor, g.end, g.there = found.complete, found.complete, 0
		return chain, true
	}

	// What follows the anchor is pending and is written again. Without an anchor nothing is cut
	// off, except a torn end: verifying tells what is missing.
	g.anchor, g.end, g.there = found.complete, found.complete, found.there
	g.Fits = found.anchored || chain.First() <= 1
	if g.Before = found.before; g.Before.Part > 0 { // an edit was killed after it had sealed the log
		chain.Pending, chain.Sealed = nil, g.Before
		found.sealed = 0
	}
	if found.anchored {
		g.anchor, g.end, g.there, g.sealed = found.anchor, found.anchor, found.sealed, found.sealed
	}
	return chain, false
}

// tail returns the end of the log: as much as the pending lines should be, or else the last line.
func (g *Log) tail(chain audit.Chain) (string, error) {
	if g.file == nil {
		return "", nil
	}

	want := int64(1)
	for _, line := range chain.Pending {
		want += int64(len(line)) + 1
	}
	if len(chain.Pending) == 0 {
		want = 4 << 10
	}
	for {
		size := min(want, g.size)
		text, err := g.read(g.size-size, size)
		done := len(chain.Pending) > 0 || size == g.size || size > 2*trust.MaxFile
		if err != nil || done || strings.Count(text, "\n") > 1 {
			return text, err
		}
		want *= 4
	}
}

func (g *Log) read(off, size int64) (string, error) {
	data := make([]byte, size)
	n, err := g.file.ReadAt(data, off)
	if err == io.EOF {
		err = nil
	}
	return trust.AsString(data[:n]), err
}

// isAsExpected reports whether the log ends with the lines of chain. Usually it does.
func (g *Log) isAsExpected(chain audit.Chain, tail string) bool {
	if len(chain.Pending) == 0 {
		text, complete := strings.CutSuffix(tail, "\n")
		g.end, g.anchor = g.size, g.size
		return complete && wire.Hash(text[strings.LastIndexByte(text, '\n')+1:]) == chain.Head
	}

	rest := tail
	for i := len(chain.Pending) - 1; i >= 0; i-- {
		text, complete := strings.CutSuffix(rest, "\n")
		if !complete {
			return false
		}
		before, same := strings.CutSuffix(text, chain.Pending[i])
		if !same {
			return false
		}
		rest = before
	}

	g.end, g.anchor, g.there = g.size, g.size-int64(len(tail)-len(rest)), len(chain.Pending)
	return rest == "" && g.anchor == 0 || strings.HasSuffix(rest, "\n")
}

// Sync makes the pending lines of chain durable in the log, and returns chain without them. With an
// error they stay pending. It writes those again that are there: an fsync
// of an edit that was killed after it may have failed, and a later one does not write what an
// earlier one failed to. A line that is not there is of an edit that was killed, whose commit may
// not be durable: it becomes so before its line does.
func (g *Log) Sync(chain audit.Chain) (audit.Chain, error) {
	err := g.held()
	if err != nil {
		return chain, err
	}
	if g.there < len(chain.Pending) {
		err = g.fs.SyncDir(filepath.Dir(g.Path))
	}
	g.end, g.there = g.anchor, g.sealed
	if err == nil {
		err = g.append(chain)
	}
	if err == nil && g.anchor == 0 {
		err = g.fs.SyncDir(filepath.Dir(g.Path))
	}
	if err == nil {
		err = g.fs.SyncFile(g.file)
		if err != nil && !g.leased {
			g.file.Truncate(g.anchor) // no one may rely on data that is only in memory
		}
	}
	if err != nil {
		g.Err = err
		return chain, err
	}

	g.anchor, g.there, g.sealed = g.end, 0, 0
	chain.Pending = nil
	return chain, nil
}

// append writes the pending lines that are not there.
func (g *Log) append(chain audit.Chain) error {
	if g.Err != nil {
		return g.Err
	}
	if g.file == nil {
		if err := g.fs.Publish(g.Path, nil); err != nil {
			return err
		}
		if g.open(g.fs.OpenAppend); g.Err != nil || g.file == nil {
			return errors.Join(fs.ErrNotExist, g.Err)
		}
	}

	var text []byte
	switch {
	case !g.leased:
		if g.end < g.size {
			if err := g.file.Truncate(g.end); err != nil {
				return err
			}
			g.size = g.end
		}
	case g.end < g.size: // others may have appended what is there, since the lock is a lease
		text, g.end = []byte("\n"), g.size
	}

	if g.there < len(chain.Pending) {
		for _, line := range chain.Pending[g.there:] {
			text = append(slices.Grow(text, len(line)+1), line...)
			text = append(text, '\n')
		}
		if _, err := g.file.Write(text); err != nil {
			return err
		}
	}
	g.end += int64(len(text))
	g.size, g.there = g.end, len(chain.Pending)
	return nil
}

// Committed appends the lines of chain, which was committed, and closes the log. If that fails they
// are pending, so nothing is lost, and the next edit tries again.
func (g *Log) Committed(chain audit.Chain) error {
	err := g.append(chain)
	g.Close()
	if err != nil {
		err = fmt.Errorf("%s: %w: its lines wait in the file of the object", g.Path, err)
	}
	return err
}
