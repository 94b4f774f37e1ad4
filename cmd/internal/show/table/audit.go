package table

import (
	"fmt"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// bookkeeping are the beginnings of paths that follow from others: numbers and counts. So does a
// whole object, which has no path.
var bookkeeping = []string{"counters/", "lastSeq", "lastEpoch", "deadSinceResume", "failuresInRow",

	"revision"}

// Record draws r as git log -p draws a commit: who did what and when, what has happened, and what
// has changed. Unless all is set it leaves out numbers that only count.
func (s Style) Record(r model.Record, now time.Time, all bool) string {
	var out strings.Builder
	line := func(t tone, format string, args ...any) {
		text := harmless.Text(fmt.Sprintf(format, args...))
		if s.Width > 0 && columns(text) > s.Width {
			text = head(text, s.Width-columns(s.dots())) + s.dots()
		}
		out.WriteString(s.paint(t, text) + "\n")
	}

	line(warn, "line %d %s (revision %d)", r.Seq, r.Verb, r.Revision)
	line(plain, "By:   %s", explain.Author(r))
	if r.By.Command != "" {
		line(plain, "With: %s", r.By.Command)
	}
	line(plain, "Date: %s (%s)", wire.FormatTime(r.At), explain.Ago(now.Sub(r.At)))
	out.WriteByte('\n')

	if n := r.Note; n != nil {
		of := ""
		if n.Task != "" {
			of = " of " + n.Task
		}
		line(strong, "    %s%s: %d bytes, %s", n.Kind, of, n.Size, n.Hash)
	}
	for _, e := range r.Events {
		line(max(strong, toneOf(e.Kind)), "    %s", e.Text)
	}

	shown := false
	for _, c := range r.Patch {
		if !all && isBookkeeping(c.Path) {
			continue
		}
		if !shown && (len(r.Events) > 0 || r.Note != nil) {
			out.WriteByte('\n')
		}
		shown = true
		s.change(c, line)
	}
	return out.String()
}

// change draws one change: what was there, and what is.
func (s Style) change(c audit.Change, line func(t tone, format string, args ...any)) {
	path := c.Path
	if path == "" {
		path = "(all)"
	}
	if c.Before != "" {
		line(bad, "-%s: %s", path, c.Before)
	}
	if c.After != "" {
		line(good, "+%s: %s", path, c.After)
	}
	if c.Before == "" && c.After == "" {
		line(bad, "-%s", path)
	}
}

func isBookkeeping(path string) bool {
	for _, begin := range bookkeeping {
		if strings.HasPrefix(path, begin) {
			return true
		}
	}
	return path == ""
}
