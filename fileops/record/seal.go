package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
)

// ErrEmpty means that a log has no lines to be sealed.
var ErrEmpty = errors.New("its log has no lines")

// ErrLastPart means that a log cannot be sealed, because somebody has given a part the last number.
var ErrLastPart = errors.New("it has a part with the last number that readers know")

// IsLong reports whether the log of chain should be sealed: no line is pending, and the lines after
// the first one have more than long bytes and more than twice those of the first one, which has the
// whole object if the log was sealed before.
func (g *Log) IsLong(chain audit.Chain, long int64) bool {
	const block = 64 << 10
	if g.file == nil || g.Err != nil || len(chain.Pending) > 0 || g.end <= long {
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

// Seal renames the log, of which no line of chain is pending, to the next part, and returns that.
// What is appended later begins a new log. An empty one was sealed before, by a process that was
// killed then. If the rename is not durable, a power cut gives the log its name back: the next edit
// goes on there.
func (g *Log) Seal(chain *audit.Chain) (path string, err error) {
	parts, err := g.Parts()
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
			return "", fmt.Errorf("%s: %w", g.Path, ErrEmpty)
		}
		return layout.PartOf(g.Path, last), nil
	}

	last = max(last, int(chain.Sealed.Part)) // parts may have been moved elsewhere
	if last++; last > layout.MaxCopy {
		return "", fmt.Errorf("%s: %w", g.Path, ErrLastPart)
	}
	path = layout.PartOf(g.Path, last)
	if err := g.fs.Move(g.Path, path); err != nil {
		return "", err
	}
	g.Close()
	g.size, g.Inode, g.anchor, g.end, g.there, g.sealed = 0, 0, 0, 0, 0, 0
	g.Before = audit.Sealing{Part: int64(last), Head: chain.Head}
	chain.Sealed = g.Before
	return path, g.fs.SyncDir(filepath.Dir(path))
}
