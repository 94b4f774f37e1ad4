//go:build linux

package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A plotted stack size, with the name of the null process that ran in the same rounds.
type plotted struct {
	size int
	null string
}

// A line is one contestant in the plot.
type line struct {
	who    string
	points []point
	label  float64 // where its label stands
}

// A point is the cost of a heartbeat at a stack size, as a ratio to a null Go process.
type point struct {
	size int
	cost estimate
}

// Measures of the plot, in its own pixels.
const (
	plotWidth, plotHeight = 820, 500
	plotLeft, plotRight   = 70, 620 // of the axes
	plotTop, plotBottom   = 60, 440
	labelDistance         = 17
)

const plotTitle = "Cost of one heartbeat, as a whole process"

const plotStyle = `
svg { color-scheme: light dark }
.back { fill: #fff }
.text { fill: #1f2328; font: 13px sans-serif }
.title { font-size: 16px }
.end { text-anchor: end }
.middle { text-anchor: middle }
.grid { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) { .back { fill: #0d1117 } .text { fill: #f0f6fc } .grid { stroke: #3d444d } }
`

// colours are the colours of lines, readable on white and on black. The parts of a heartbeat, timed
// at one size, have no line.
var colours = map[string]string{
	"dpl": "#2f81f7", "dpl-pid": "#79a8e8", "c": "#8b949e", "sqlite-journal": "#d29922",
	"sqlite-wal": "#b08968",
	"redis":      "#e5534b", "jq": "#3fb950", "python": "#a371f7",
}

// writeSVG writes the plot to file, if it has a name and the edits were timed.
func (b *bench) writeSVG(file string) error {
	if file == "" || len(b.plotted) == 0 {
		return nil
	}
	return os.WriteFile(file, []byte(b.plot()), 0o644)
}

func (b *bench) lines() (all []line) {
	for _, l := range labels {
		if colours[l.who] == "" {
			continue
		}

		n := line{who: l.who}
		for _, p := range b.plotted {
			if cost, ok := b.results.ratio(named(heartbeat, p.size, l.who), p.null); ok {
				n.points = append(n.points, point{p.size, cost})
			}
		}

		if n.points != nil {
			all = append(all, n)
		}
	}

	return all
}

// plot returns the plot as SVG, which needs no other file.
func (b *bench) plot() string {
	lines := b.lines()
	x, y := b.scales(lines)
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%s">`+"\n",
		plotWidth, plotHeight, plotTitle)
	fmt.Fprintf(&s, "<style>%s</style>\n", plotStyle)
	fmt.Fprintf(&s, `<rect class="back" width="%d" height="%d"/>`+"\n", plotWidth, plotHeight)
	text(&s, "text title", plotLeft, 26, plotTitle)
	text(&s, "text", plotLeft, 45, "medians with 95 % intervals; both axes are logarithmic")
	text(&s, "text middle", (plotLeft+plotRight)/2, plotBottom+45, "calls on the stack")
	fmt.Fprintf(&s, `<text class="text middle" transform="translate(20 %d) rotate(-90)">times a null Go process</text>`+"\n", (plotTop+plotBottom)/2)

	for _, p := range b.plotted {
		gridLine(&s, x(p.size), plotTop, x(p.size), plotBottom)
		text(&s, "text middle", x(p.size), plotBottom+20, fmt.Sprint(p.size))
	}

	for _, cost := range ticks(lines) {
		gridLine(&s, plotLeft, y(cost), plotRight, y(cost))
		text(&s, "text end", plotLeft-8, y(cost)+4, fmt.Sprintf("%g", cost))
	}

	for _, l := range spread(lines, y) {
		l.draw(&s, x, y)
	}

	return s.String() + "</svg>\n"
}

func text(s *strings.Builder, class string, x, y float64, content string) {
	fmt.Fprintf(s, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, content)
}

func gridLine(s *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(s, `<path class="grid" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x1, y1, x2, y2)
}

// draw draws the line, its intervals, and its label at the right.
func (l line) draw(s *strings.Builder, x func(int) float64, y func(float64) float64) {
	path := "M"
	fmt.Fprintf(s, `<g stroke="%s" fill="none" stroke-width="2">`+"\n", colours[l.who])
	for _, p := range l.points {
		at, cost := x(p.size), y(p.cost.Value)
		path += fmt.Sprintf("%.1f %.1f ", at, cost)
		fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="2.5"/>`, at, cost)
		fmt.Fprintf(s, `<path stroke-width="1" d="M%.1f %.1fV%.1f"/>`+"\n", at, y(p.cost.Low),
			y(p.cost.High))
	}

	fmt.Fprintf(s, `<path d="%s"/>`+"\n", path)
	end := l.points[len(l.points)-1]
	fmt.Fprintf(s, `<path stroke-width="1" stroke-dasharray="2 2" d="M%.1f %.1fL%d %.1f"/></g>`+"\n",
		x(end.size), y(end.cost.Value), plotRight+14, l.label)
	text(s, "text", plotRight+18, l.label+4, labelOf(l.who))
}

// scales return where a size and a cost are.
func (b *bench) scales(lines []line) (x func(int) float64, y func(float64) float64) {
	ticks := ticks(lines)
	low, high := math.Log(ticks[0]), math.Log(ticks[len(ticks)-1])
	first, last := math.Log(float64(b.plotted[0].size)), math.Log(float64(b.plotted[len(b.plotted)-1].size))
	x = func(size int) float64 {
		return plotLeft + (plotRight-plotLeft)*(math.Log(float64(size))-first)/(last-first)
	}

	y = func(cost float64) float64 {
		return plotBottom - (plotBottom-plotTop)*(math.Log(cost)-low)/(high-low)
	}
	return x, y
}

// ticks returns the marks of the y axis, from below the cheapest to above the dearest.
func ticks(lines []line) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			low, high = min(low, p.cost.Low), max(high, p.cost.High)
		}
	}

	var all []float64
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high*10; decade *= 10 {
		for _, m := range []float64{1, 2, 5} {
			all = append(all, decade*m)
		}
	}

	for len(all) > 1 && all[1] <= low {
		all = all[1:]
	}

	for len(all) > 2 && all[len(all)-2] >= high {
		all = all[:len(all)-1]
	}

	return all
}

// spread moves the labels of lines apart so that they can be read, beside the ends of their lines
// if possible.
func spread(lines []line, y func(float64) float64) []line {
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Compare(b.points[len(b.points)-1].cost.Value,
			a.points[len(a.points)-1].cost.Value)
	})

	for i := range lines {
		end := lines[i].points[len(lines[i].points)-1]
		lines[i].label = y(end.cost.Value)
		if i > 0 {
			lines[i].label = max(lines[i].label, lines[i-1].label+labelDistance)
		}
	}

	for i := len(lines) - 2; i >= 0; i-- {
		lines[i+1].label = min(lines[i+1].label, plotBottom-float64(len(lines)-2-i)*labelDistance)
		lines[i].label = min(lines[i].label, lines[i+1].label-labelDistance)
	}

	return lines
}
