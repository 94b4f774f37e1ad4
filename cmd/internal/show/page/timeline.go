package page

import (
	"cmp"
	"fmt"
	"html/template"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A timeline is a drawn chart.
type timeline struct {
	Ticks   []bar
	Tracks  []track
	From    time.Time
	Length  string
	Undrawn string // the lanes that are left out, if any
	Silent  bool   // for some lane it is unknown whether it is alive
	Signs   string // what the marks mean
}

// A track is a drawn lane.
type track struct {
	Label, Note string
	Indent      template.CSS
	Bars        []bar
}

// A bar is part of a track. Without a width it is a tick or a mark.
type bar struct {
	Class, Text, Title string
	Style              template.CSS
}

// timeline draws a chart. It returns nil if the chart is empty.
func (c *chart) timeline() *timeline {
	const most = 60 // more lanes would not be read
	if !c.to.After(c.from) || len(c.lanes) == 0 {
		return nil
	}

	c.keep(most)
	t := &timeline{Ticks: c.ticks(), From: c.from, Length: explain.Span(c.to.Sub(c.from))}
	if c.left > 0 {
		t.Undrawn = explain.Plural(c.left, "lane")
	}

	used := make(map[string]bool)
	for _, l := range c.lanes {
		t.Tracks = append(t.Tracks, c.track(l))
		t.Silent = t.Silent || !l.silentSince.IsZero()
		for _, m := range l.marks {
			used[m.sign] = true
		}
	}

	for _, s := range signs {
		if used[s.sign] {
			t.Signs += "; " + s.sign + " " + s.means
		}
	}
	return t
}

// signs are the signs of marks, and what they mean.
var signs = [...]struct{ sign, means string }{
	{"?", "asked for a checkpoint"}, {"■", "TERM"}, {"×", "ended"}, {"✓", "completed"},
	{"↻", "started again"}, {"‖", "paused"}, {"“", "says"}, {"!", "other alerts"},
}

// steps are the usual distances between ticks.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks returns the lines of the axis, with the time since its beginning.
func (c *chart) ticks() (all []bar) {
	const most = 7
	total := c.to.Sub(c.from)
	step := steps[len(steps)-1]

	for _, s := range steps {
		if total/s < most {
			step = s
			break
		}
	}

	for total/step >= most {
		step *= 2
	}

	for i := range total/step + 1 {
		at := i * step
		class := "tick"
		if total-at < total/12 {
			class += " end"
		}
		all = append(all, bar{Class: class, Text: cli.Brief(at), Style: left(at, total)})
	}

	return all
}

func percent(part, whole time.Duration) string {
	return fmt.Sprintf("%.3f%%", 100*float64(part)/float64(whole))
}

// left returns a position on the axis.
func left(part, whole time.Duration) template.CSS {
	return template.CSS("left:" + percent(part, whole))
}

func (c *chart) track(l *lane) track {
	t := track{Label: l.label}
	if l.note != l.label {
		t.Note = l.note
	}
	if l.depth > 0 {
		const most = 6 // levels are indented
		t.Indent = template.CSS(fmt.Sprintf("padding-left:%.1frem", 0.7*float64(min(l.depth, most))))
	}

	for _, s := range l.spans {
		t.Bars = append(t.Bars, c.span(s))
	}

	if at := l.silentSince; !at.IsZero() && at.Before(c.to) {
		t.Bars = append(t.Bars, c.bar("silent", "", "no heartbeat since "+wire.FormatTime(at), at, c.to))
	}

	for _, m := range l.marks {
		style := left(m.at.Sub(c.from), c.to.Sub(c.from))
		t.Bars = append(t.Bars, bar{Class: "mark " + m.mood, Text: m.sign, Title: wire.FormatTime(m.at) + " " +
			m.title, Style: style})
	}

	return t
}

func (c *chart) span(s span) bar {
	title := s.state
	if s.from.IsZero() {
		s.from = c.from
	} else {
		title += " from " + wire.FormatTime(s.from)
	}

	if s.to.IsZero() {
		s.to = c.to
	} else {
		title += " to " + wire.FormatTime(s.to)
	}
	if s.why != "" {
		title += ": " + s.why
	}

	return c.bar("span "+table.Mood(s.state), cmp.Or(s.text, s.state), title, s.from, s.to)
}

// bar returns a bar from one time to another, limited to the axis.
func (c *chart) bar(class, text, title string, from, to time.Time) bar {
	if from.Before(c.from) {
		from = c.from
	}
	if to.After(c.to) {
		to = c.to
	}

	whole, length := c.to.Sub(c.from), max(to.Sub(from), 0)
	const legible = 8 // a word in less than an eighth of the width would be cut
	if length < whole/legible {
		text = ""
	}

	style := left(from.Sub(c.from), whole) + template.CSS(";width:"+percent(length, whole))
	return bar{Class: class, Text: text, Title: title, Style: style}
}
