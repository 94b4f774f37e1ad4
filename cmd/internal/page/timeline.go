package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/view"
)

// timeline writes a chart, unless there is nothing in it.
func (w *writer) timeline(c *chart) {
	const most = 60 // lanes that anybody looks at
	if !c.to.After(c.from) || len(c.lanes) == 0 {
		return
	}
	c.keep(most)
	w.element("h3", "", "Timeline")
	w.open("div", "class", "chart")
	w.ticks(c)
	for _, l := range c.lanes {
		w.lane(c, l)
	}
	w.close()
	w.open("p", "class", "meta")
	w.text("from ")
	w.time(c.from)
	w.text(" on, " + view.Span(c.to.Sub(c.from)) + " in all")
	if c.left > 0 {
		w.text("; " + count(c.left, "lane") + " more are not drawn")
	}
	if slices.ContainsFunc(c.lanes, func(l *lane) bool { return !l.silentSince.IsZero() }) {
		w.text("; a dotted line: no heartbeat since then")
	}
	w.close()
}

// steps are the distances between ticks that people count in.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks writes the axis: some lines, and how long after the beginning each is.
func (w *writer) ticks(c *chart) {
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
	w.open("div", "class", "axis")
	w.open("div", "class", "track")
	for i := range total/step + 1 {
		at := i * step
		class := "tick"
		if total-at < total/12 {
			class += " end"
		}
		w.open("span", "class", class, "style", "left:"+percent(at, total))
		w.element("i", "", short(at))
		w.close()
	}
	w.close()
	w.close()
}

// short says how long d is in the largest units, without those that are 0: 2h, 1h30m, 1d12h.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	text := ""
	if d >= day {
		text = fmt.Sprintf("%dd", d/day)
		d %= day
	}
	if d == 0 && text != "" {
		return text
	}

	rest := d.String()
	if minutes, ok := strings.CutSuffix(rest, "m0s"); ok {
		rest = minutes + "m"
	}
	if hours, ok := strings.CutSuffix(rest, "h0m"); ok {
		rest = hours + "h"
	}
	return text + rest
}

func percent(part, whole time.Duration) string {
	return fmt.Sprintf("%.3f%%", 100*float64(part)/float64(whole))
}

func (w *writer) lane(c *chart, l *lane) {
	w.open("div", "class", "lane")
	w.open("div", "class", "label")
	w.element("b", "", l.label)
	if l.note != "" && l.note != l.label {
		w.element("i", "", l.note)
	}
	w.close()
	w.open("div", "class", "track")
	for _, s := range l.spans {
		w.span(c, s)
	}
	if at := l.silentSince; !at.IsZero() && at.Before(c.to) {
		w.bar(c, "silent", "", "no heartbeat since "+view.Stamp(at), at, c.to)
	}
	for _, m := range l.marks {
		w.open("span", "class", "mark "+m.mood, "title", view.Stamp(m.at)+" "+m.title, "style", "left:"+percent(m.at.Sub(c.from), c.to.Sub(c.from)))
		w.close()
	}
	w.close()
	w.close()
}

func (w *writer) span(c *chart, s span) {
	title := s.state
	if s.from.IsZero() {
		s.from = c.from
	} else {
		title += " from " + view.Stamp(s.from)
	}
	if s.to.IsZero() {
		s.to = c.to
	} else {
		title += " to " + view.Stamp(s.to)
	}
	w.bar(c, "span "+view.Mood(s.state), s.state, title, s.from, s.to)
}

// bar writes a bar from a time to another, as far as the axis goes.
func (w *writer) bar(c *chart, class, text, title string, from, to time.Time) {
	if from.Before(c.from) {
		from = c.from
	}
	if to.After(c.to) {
		to = c.to
	}
	whole, length := c.to.Sub(c.from), max(to.Sub(from), 0)
	const legible = 8 // a word of less than an eighth of the width would be cut
	if length < whole/legible {
		text = ""
	}
	w.open("span", "class", class, "title", title, "style", "left:"+percent(from.Sub(c.from), whole)+";width:"+percent(length, whole))
	w.text(text)
	w.close()
}
