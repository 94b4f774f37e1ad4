package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ErrEmptyLog means that a log has no lines to be sealed.
var ErrEmptyLog = errors.New("its log has no lines")

// ErrLastPart means that a log cannot be sealed, because somebody has given a part the last number.
var ErrLastPart = errors.New("it has a part with the last number that readers know")

// seal renames the log of an object to the next sealed part of it, when all pending lines are
// durable there, and commits an edit, made by touch, whose line begins the next part: with the
// whole object. A seal that is killed before that commit leaves a log that the next edit creates.
func seal[T any](tx *Tx[T], touch func(T) (T, error)) (path string, err error) {
	r := tx.kind.record
	if !r.always && !r.chain(&tx.value).On() {
		return "", ErrNoRecord
	}
	after, err := touch(tx.value)
	if err != nil {
		return "", err
	}

	log, chain, restored := tx.follow()
	defer log.close()
	if !restored {
		if chain, err = log.sync(chain); err != nil {
			return "", err
		}
	}
	if path, err = log.seal(&chain); err != nil {
		return "", err
	}

	if !restored { // else the edit finds that out again
		*r.chain(&tx.value) = chain
	}
	tx.entry = audit.Entry{Verb: audit.Sealed}
	return path, tx.Commit(after)
}

// longPart is how long the text after the first line of a part becomes before an edit seals the log.
const longPart = 8 << 20

// isLong reports whether the log of chain should be sealed: no line is pending, and the lines after the
// first one have more than longPart bytes and more than twice those of the first one, which has the
// whole object if the log was sealed before.
func (g *auditLog) isLong(chain audit.Chain) bool {
	const block = 64 << 10
	long := g.ledger.longPart
	if g.file == nil || g.err != nil || len(chain.Pending) > 0 || g.end <= long {
		return false
	}
	for off := int64(0); off < g.end/3; off += block {
		text, err := g.read(off, block)
		if err != nil {
			return false
		}
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			first := off + int64(i) + 1
			return g.end-first > max(long, 2*first)
		}
	}
	return false
}

// seal renames the log, of which no line of chain is pending, to the next part, and returns that. What
// is appended later begins a new log. An empty one was sealed before, by a process that was killed then.
// If the rename is not durable, a power cut gives the log its name back: the next edit goes on there.
func (g *auditLog) seal(chain *audit.Chain) (path string, err error) {
	parts, err := g.ledger.sealedParts(g.path)
	if err == nil {
		err = g.held()
	}
	if err != nil {
		return "", err
	}

	last := 0
	if len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	if g.file == nil || g.end == 0 {
		if last == 0 {
			return "", fmt.Errorf("%s: %w", g.path, ErrEmptyLog)
		}
		return layout.PartOf(g.path, last), nil
	}

	last = max(last, int(chain.Sealed.Part)) // parts may have been moved elsewhere
	if last++; last > layout.MaxCopy {
		return "", fmt.Errorf("%s: %w", g.path, ErrLastPart)
	}
	path = layout.PartOf(g.path, last)
	if err := g.ledger.fs.Move(g.path, path); err != nil {
		return "", err
	}
	g.close()
	g.size, g.inode, g.anchor, g.end, g.there, g.sealed = 0, 0, 0, 0, 0, 0
	g.before = audit.Sealing{Part: int64(last), Head: chain.Head}
	chain.Sealed = g.before
	return path, g.ledger.fs.SyncDir(filepath.Dir(path))
}

// SealedBefore returns the sealed parts of the record of a that were last changed before then, oldest
// first. It leaves out those after one that was changed later, and those of which the object's file does
// not know that they were sealed, because the record would be broken without them.
func (a Audited) SealedBefore(then time.Time) (paths []string, err error) {
	defer a.ledger.fs.Refresh()
	parts, err := a.ledger.sealedParts(a.Log)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	chain, err := a.Chain()
	if err != nil {
		return nil, err
	}

	for _, n := range parts {
		path := layout.PartOf(a.Log, n)
		info, err := a.ledger.fs.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || int64(n) > chain.Sealed.Part || !info.ModTime.Before(then) {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// RemoveSealed removes a part that SealedBefore has returned.
func (a Audited) RemoveSealed(path string) error {
	defer a.ledger.fs.Refresh()
	return a.ledger.fs.RemoveIfThere(path)
}

// AddNote stores text in notes/, and returns a note about it. One that is there already may be what
// a killed process has left, so it is compared and synced.
func (l *Ledger) AddNote(kind, task, text string) (audit.Note, error) {
	defer l.fs.Refresh()
	note := audit.Note{Kind: kind, Task: task, Size: int64(len(text)), Hash: wire.Hash(text)}
	path := l.NotePath(strings.TrimPrefix(note.Hash, "sha256:"))
	if err := l.fs.EnsureDir(l.NotesDir()); err != nil {
		return note, err
	}
	data := []byte(text)
	err := l.fs.WriteNew(path, data, true)
	if errors.Is(err, fs.ErrExist) {
		if known, readErr := l.ReadNote(note); readErr == nil && known == text {
			err = l.fs.WithFile(path, l.fs.SyncFile)
		} else if err = l.fs.RemoveIfThere(path); err == nil {
			err = l.fs.WriteNew(path, data, true)
		}
	}
	if err == nil {
		err = errors.Join(l.fs.SyncDir(l.NotesDir()), l.fs.SyncDir(l.Dir()))
	}
	return note, err
}

// ReadNote returns the text of a note.
func (l *Ledger) ReadNote(note audit.Note) (string, error) {
	data, _, err := l.fs.ReadFile(l.NotePath(strings.TrimPrefix(note.Hash, "sha256:")))
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err == nil && wire.Hash(string(data)) != note.Hash {
		err = errors.New("it is not what was noted")
	}
	return string(data), err
}
