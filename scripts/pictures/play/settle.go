package play

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/dpl-project/dpl/scripts/pictures/scene"
)

// A settler replaces what is different each time a scene is played by what the scene says: pids,
// points in time, ages, hosts, runs, and the home directory.
type settler struct {
	scene   scene.Scene
	home    string
	shown   map[string]string // the shown pid of each real one
	differs *regexp.Regexp
	times   int // points in time that were shown
	step    scene.Step
	ages    []string // of it, that were not shown yet
}

func newSettler(s scene.Scene, home string) *settler {
	return &settler{scene: s, home: home, shown: make(map[string]string),
		differs: regexp.MustCompile(regexp.QuoteMeta(home) +
			`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z` +
			`|\b[0-9a-f]{16}:\d+` +
			`|\brun [0-9a-f]{16}\b` +
			`|\brevision \d+` +
			`|\b(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+\b` +
			`|\b\d+\b`)}
}

// real returns a command with the real pids.
func (s *settler) real(command string) string {
	return regexp.MustCompile(`\b\d+\b`).ReplaceAllStringFunc(command, func(n string) string {
		for real, shown := range s.shown {
			if shown == n {
				return real
			}
		}
		return n
	})
}

// settle returns what a picture shows for the lines that a step has printed.
func (s *settler) settle(step scene.Step, lines []draw.Line) (all []draw.Line) {
	s.step, s.ages = step, step.Ages
	var now layout
	for _, l := range lines {
		text := l.String()
		cells := now.cut(l)
		s.meet(now.pidOf(cells, text))
		for i := range cells {
			cells[i] = s.replace(cells[i])
		}

		if cells == nil {
			now.add([][]draw.Cell{s.replace(l.Cells)}, false)
		} else {
			now.add(cells, true)
		}
	}

	return now.lines()
}

// settlePage returns what a picture shows for a page. Its times are those of a replay.
func (s *settler) settlePage(html string) string {
	for _, match := range regexp.MustCompile(`<i>pid</i> (\d+)`).FindAllStringSubmatch(html, -1) {
		s.meet(match[1])
	}

	page := regexp.MustCompile(regexp.QuoteMeta(s.home) + `|\b[0-9a-f]{16}:\d+|<i>pid</i> \d+`)
	return page.ReplaceAllStringFunc(html, func(text string) string {
		if pid, is := strings.CutPrefix(text, "<i>pid</i> "); is {
			return "<i>pid</i> " + s.instead(pid)
		}
		return s.instead(text)
	})
}

// meet gives a process the next pid to show.
func (s *settler) meet(pid string) {
	if pid == "" || s.shown[pid] != "" {
		return
	}

	n := len(s.shown)
	if n < len(s.scene.PIDs) {
		s.shown[pid] = s.scene.PIDs[n]
		return
	}
	s.shown[pid] = strconv.Itoa(4711 + n)
}

// replace replaces what differs in a text.
func (s *settler) replace(cells []draw.Cell) (all []draw.Cell) {
	text := draw.Line{Cells: cells}.String()
	from := 0
	for _, at := range s.differs.FindAllStringIndex(text, -1) {
		begin, end := len([]rune(text[:at[0]])), len([]rune(text[:at[1]]))
		all = append(all, cells[from:begin]...)
		for _, r := range s.instead(text[at[0]:at[1]]) {
			all = append(all, draw.Cell{Rune: r, Tone: cells[begin].Tone})
		}
		from = end
	}

	return append(all, cells[from:]...)
}

// instead returns what to show instead of a text.
func (s *settler) instead(text string) string {
	last := text[len(text)-1]
	switch {
	case s.shown[text] != "":
		return s.shown[text]
	case strings.HasPrefix(text, "run "):
		return "run 5f0c2a9be3d14786"
	case text[0] == 'r':
		if s.step.Revision == "" {
			return text
		}
		return "revision " + s.step.Revision
	case text[0] == '/':
		return "/home/ada"
	case last == 'Z':
		s.times++
		return next(s.scene.Times, s.times-1, "2026-01-20T10:30:07Z")
	case len(text) > 16 && text[16] == ':':
		return "75ff6945b9d096b3:1000"
	case last < '0' || last > '9':
		if slices.Contains(s.scene.Keep, text) {
			return text
		}
		if len(s.ages) > 1 {
			defer func() { s.ages = s.ages[1:] }()
		}
		return next(s.ages, 0, "1.2s")
	}

	return text
}

// next returns element i of a list, or its last one, or that of an empty list.
func next(list []string, i int, none string) string {
	if len(list) == 0 {
		return none
	}
	return list[min(i, len(list)-1)]
}

// check returns an error if the scene names pids that no process has had.
func (s *settler) check() error {
	if len(s.shown) < len(s.scene.PIDs) {
		return fmt.Errorf("%s: it names %d pids, but only %d processes appear", s.scene.Name,
			len(s.scene.PIDs), len(s.shown))
	}
	return nil
}
