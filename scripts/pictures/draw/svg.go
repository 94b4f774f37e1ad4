package draw

import (
	"fmt"
	"strings"
	"time"
)

// Measures of a picture, in its own pixels.
const (
	advance   = 8.4 // of a character
	lineStep  = 19
	baseline  = 14
	padding   = 16
	barHeight = 30
)

const fonts = `ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",` +
	`"Liberation Mono",monospace`

// A drawing is a picture being written.
type drawing struct {
	Picture
	timeline
	body, motion strings.Builder
	names        int // of animations
}

// SVG returns the picture as a file. The text of the picture is its description.
func SVG(p Picture) string {
	if p.Page.HTML != "" {
		return page(p)
	}

	d := drawing{Picture: p, timeline: schedule(p)}
	for i := range p.Slides {
		if p.Animated || i == len(p.Slides)-1 {
			d.slide(i)
		}
	}

	width := float64(p.Columns)*advance + 2*padding
	height := float64(barHeight + p.Rows*lineStep + 2*padding)
	return window(p, width, height, d.style(), fmt.Sprintf(`<svg x="%d" y="%d" width="%s" `+
		`height="%d" overflow="hidden">`+"\n%s</svg>", padding, barHeight+padding-4,
		number(width-padding-2), p.Rows*lineStep+8, d.body.String()))
}

// style returns the rules of the whole picture.
func (d *drawing) style() string {
	rules := "text{font:14px " + fonts + ";white-space:pre}.s,.t{font-weight:600}" +
		light().css() + "\n@media(prefers-color-scheme:dark){" + dark().css() + "}"
	if d.motion.Len() > 0 {
		rules += fmt.Sprintf("\n@media(prefers-reduced-motion:no-preference){"+
			"[class^=k]{animation:%s step-end infinite}%s}", seconds(d.length), d.motion.String())
	}
	return rules
}

// slide writes the lines of slide i.
func (d *drawing) slide(i int) {
	lines, moments := d.Slides[i], d.slides[i]
	surplus := max(len(lines)-d.Rows, 0)
	fmt.Fprintf(&d.body, `<g%s><g%s%s>`+"\n", d.during(i), d.scrolling(i),
		move(surplus))
	for row, l := range lines {
		if l.String() == "" || !d.Animated && row < surplus {
			continue
		}

		d.body.WriteString("<g" + d.from(moments[row].begin) + ">")
		for _, r := range l.runs() {
			d.run(r, row, l.Typed)
		}

		if l.Typed && d.Animated {
			d.cover(row, len(l.Cells), moments[row])
		}
		d.body.WriteString("</g>\n")
	}

	d.body.WriteString("</g></g>\n")
}

func (d *drawing) run(r run, row int, typed bool) {
	class := classes()[r.tone]
	if typed && r.tone == Plain {
		class += " t"
	}
	fmt.Fprintf(&d.body, `<text class="%s" x="%s" y="%d" textLength="%s" `+
		`lengthAdjust="spacingAndGlyphs">%s</text>`, class, number(float64(r.column)*advance),
		row*lineStep+baseline, number(float64(len([]rune(r.text)))*advance), escape(r.text))
}

// cover hides a line that is being typed behind a cursor, which moves to its end. Before and after
// it is out of sight.
func (d *drawing) cover(row, letters int, m moment) {
	at := func(column float64) string {
		return "{transform:translateX(" + number(column*advance) + "px)}"
	}
	typing := strings.TrimSuffix(at(2), "}") +
		fmt.Sprintf(";animation-timing-function:steps(%d)}", max(letters-2, 1))
	away := at(float64(2 * d.Columns))
	class := d.animate("0%" + away + d.percent(m.begin) + typing + d.percent(m.end) +
		at(float64(letters)) + d.percent(m.end+time.Millisecond) + away)
	fmt.Fprintf(&d.body, `<g%s transform="translate(%s)"><rect class="back" y="%d" width="%s" `+
		`height="%d"/><rect class="block" y="%d" width="8" height="17"/></g>`, class,
		number(float64(2*d.Columns)*advance), row*lineStep, number(float64(d.Columns)*advance),
		lineStep, row*lineStep)
}

// from returns the attribute of what is to be seen from a moment on.
func (d *drawing) from(begin time.Duration) string {
	if !d.Animated || begin == 0 {
		return ""
	}
	return d.animate("0%{opacity:0}" + d.percent(begin) + "{opacity:1}")
}

// during returns the attributes of slide i, which is to be seen until the next one begins.
func (d *drawing) during(i int) string {
	last := i == len(d.Slides)-1
	switch {
	case !d.Animated || last && i == 0:
		return ""
	case last:
		return d.from(d.starts[i])
	}
	return ` opacity="0"` + d.animate("0%{opacity:0}"+d.percent(d.starts[i])+"{opacity:1}"+
		d.percent(d.starts[i+1])+"{opacity:0}")
}

// scrolling returns the attribute that moves slide i up whenever a line comes that has no room.
func (d *drawing) scrolling(i int) string {
	moments := d.slides[i]
	if !d.Animated || len(moments) <= d.Rows {
		return ""
	}

	steps := "0%{transform:none}"
	for row := d.Rows; row < len(moments); row++ {
		if row+1 < len(moments) && moments[row+1].begin == moments[row].begin {
			continue
		}
		steps += fmt.Sprintf("%s{transform:translateY(%dpx)}", d.percent(moments[row].begin),
			-(row+1-d.Rows)*lineStep)
	}

	return d.animate(steps)
}

// animate adds an animation and returns the attribute of what takes part in it.
func (d *drawing) animate(steps string) string {
	d.names++
	fmt.Fprintf(&d.motion, "\n.k%[1]d{animation-name:k%[1]d}@keyframes k%[1]d{%[2]s}", d.names, steps)
	return fmt.Sprintf(` class="k%d"`, d.names)
}

// percent returns the place of a moment in the loop.
func (d *drawing) percent(at time.Duration) string {
	return number(100*at.Seconds()/d.length.Seconds()) + "%"
}

func move(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf(` transform="translate(0 %d)"`, -lines*lineStep)
}

func seconds(d time.Duration) string { return number(d.Seconds()) + "s" }

// number returns a number with at most two digits after the point.
func number(f float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.2f", f), "0")
	return strings.TrimSuffix(text, ".")
}
