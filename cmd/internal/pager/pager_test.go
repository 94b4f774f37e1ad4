package pager

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// of returns a pager of n lines, line 1 to line n, and a height.
func of(n, height int) *Pager {
	p := &Pager{Height: height, Foot: "now"}
	for i := range n {
		p.Lines = append(p.Lines, fmt.Sprintf("line %d.", i+1))
	}
	return p
}

// screen returns the lines of the frame of p.
func screen(p *Pager) []string {
	frame := strings.NewReplacer("\x1b[H", "", "\x1b[K", "", "\x1b[J", "").Replace(
		p.Frame(func(text string) string { return text }))
	return strings.Split(frame, "\r\n")
}

// press types text, in which ^ begins the name of a key, and reports whether the person has quit.
func press(p *Pager, text string) (quit bool) {
	for _, word := range strings.Fields(text) {
		names := map[string]Key{"up": Up, "down": Down, "pgup": PageUp, "pgdn": PageDown, "home": Home,
			"end": End, "enter": Enter, "esc": Escape, "back": Backspace, "space": ' '}
		if key, ok := names[word]; ok {
			quit = p.Press(key)
			continue
		}
		for _, r := range word {
			quit = p.Press(Key(r))
		}
	}
	return quit
}

// Keys move the view. Each case has the first and the last line that it shows then, and the foot.
func TestMoving(t *testing.T) {
	for keys, want := range map[string]string{
		"":              "1 8",
		"j":             "2 9",
		"down down k":   "2 9",
		"up k pgup":     "1 8",
		"pgdn":          "8 15",
		"space space b": "8 15",
		"G":             "23 30",
		"end j pgdn":    "23 30",
		"end home":      "1 8",
		"G g enter":     "2 9",
		"x y z ? j j":   "2 9", // the first j leaves the help
		"t":             "1 8", // the first line in trouble is on the screen
		"t t":           "20 27",
		"t t t":         "23 30", // the last one, at the end
		"t t t t":       "4 11",
		"G t g t t":     "20 27",

		"/ L I N E space 17 enter":        "17 24",
		"/ line space 2 enter":            "1 8",
		"/ line space 2 enter n":          "20 27",
		"/ line space 2 enter n N":        "2 9",
		"/ line space 2 enter N":          "23 30",
		"/ 7. enter n n n":                "7 14",
		"/ 7. enter j j j n":              "4 11",
		"/ q x back back 2 8 enter":       "23 30",
		"/ 17. esc":                       "1 8",
		"/ back G":                        "23 30",
		"/ enter n":                       "1 8",
		"G / line space 1. enter esc N j": "2 9",
		"/ nowhere enter":                 "1 8",
	} {
		p := of(30, 10)
		p.Trouble = []int{3, 19, 28}
		if press(p, keys) {
			t.Errorf("%s: it quits", keys)
		}
		lines := screen(p)
		if first, last, _ := strings.Cut(want, " "); len(lines) != 10 ||
			number(lines[0]) != first || number(lines[7]) != last ||
			lines[8] != "" {
			t.Errorf("%s: want lines %s, got %q", keys, want, lines)
		}
	}
}

// number returns the number of a line of a pager.
func number(line string) string {
	return strings.TrimSuffix(strings.TrimPrefix(Plain(line), "line "), ".")
}

// The last line says what is shown, what to press, and what a search has found.
func TestFoot(t *testing.T) {
	for _, c := range []struct {
		lines, height int
		keys, want    string
	}{
		{30, 10, "", "lines 1 to 8 of 30; q quits, ? shows the keys; now"},
		{5, 10, "", "q quits, ? shows the keys; now"},
		{5, 2, "", "5 lines; q quits, ? shows the keys; now"},
		{5, 1, "j", "5 lines; q quits, ? shows the keys; now"},
		{30, 10, "/ ab", "/ab\x1b[7m \x1b[27m"},
		{30, 10, "/ ab back", "/a\x1b[7m \x1b[27m"},
		{30, 10, "/ nowhere enter", "not found; q quits, ? shows the keys; now"},
		{30, 10, "n", "nothing was searched: /TEXT does; q quits, ? shows the keys; now"},
		{30, 10, "n j", "lines 2 to 9 of 30; q quits, ? shows the keys; now"},
		{30, 10, "t", "nothing is in trouble; q quits, ? shows the keys; now"},
		{0, 10, "/ x enter j G t", "nothing is in trouble; q quits, ? shows the keys; now"},
	} {
		p := of(c.lines, c.height)
		press(p, c.keys)
		lines := screen(p)
		if got := lines[len(lines)-1]; got != c.want || len(lines) > c.height {
			t.Errorf("%d lines at %d, %q: got %q, want %q", c.lines, c.height, c.keys, lines, c.want)
		}
	}

	p := of(5, 10)
	p.Deaf, p.Trouble = true, []int{1}
	if got := screen(p); got[len(got)-1] != "Ctrl-C ends this; now" {
		t.Errorf("without a keyboard: %q", got)
	}
}

func TestHelpAndQuit(t *testing.T) {
	p := of(30, 24)
	press(p, "?")
	if got := screen(p); got[0] != "Keys" || !strings.Contains(strings.Join(got, "\n"), "Any key returns.") {
		t.Errorf("the help is %q", got)
	}
	if press(p, "q") {
		t.Error("q at the help quits")
	}
	if !press(p, "q") {
		t.Error("q does not quit")
	}
	if press(p, "/ q Q") {
		t.Error("a q that is searched quits")
	}
	if press(p, "enter f"); !p.Unfolded {
		t.Error("f does not unfold")
	}
}

// Another text, and another height, leave the part where it is, as far as they can.
func TestOtherText(t *testing.T) {
	p := of(30, 10)
	press(p, "j j j j")
	p.Lines = p.Lines[:20]
	if got := screen(p); got[0] != "line 5." {
		t.Errorf("a shorter text: %q", got)
	}
	p.Height = 19
	if got := screen(p); got[0] != "line 4." {
		t.Errorf("a higher screen: %q", got)
	}
	p.Lines = nil
	if got := screen(p); len(got) != 2 {
		t.Errorf("no text: %q", got)
	}
}

// What was searched is in reverse, whatever colors are around it and in it; the colors stay.
func TestHighlight(t *testing.T) {
	p := &Pager{Height: 10, Lines: []string{"a \x1b[32mgre\x1b[0men\x1b[1m green", "\x1b[31mred\x1b[0m", "GREEN"}}
	press(p, "/ green enter")
	want := []string{"a \x1b[32m\x1b[7mgre\x1b[0m\x1b[7men\x1b[27m\x1b[1m \x1b[7mgreen\x1b[27m",
		"\x1b[31mred\x1b[0m", "\x1b[7mGREEN\x1b[27m"}
	if got := screen(p)[:3]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Trouble = []int{1}
	press(p, "t")
	if got := screen(p)[1]; got != "\x1b[7mred\x1b[27m" {
		t.Errorf("the line in trouble is %q", got)
	}
}

func TestPlain(t *testing.T) {
	for line, want := range map[string]string{"a": "a", "\x1b[1;31mb\x1b[0m c": "b c", "\x1b[K": "\x1b[K",
		"\x1b[": "\x1b[", "\x1b[3": "\x1b[3", "": ""} {
		if got := Plain(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string][]Key{
		"jq":                         {'j', 'q'},
		"\x1b[A\x1bOB":               {Up, Down},
		"\x1b[5~\x1b[6~x":            {PageUp, PageDown, 'x'},
		"\x1b":                       {Escape},
		"\x1bq":                      {Escape, 'q'},
		"\r\n\x7f\b":                 {Enter, Enter, Backspace, Backspace},
		"\x1b[1;5Aj\x1b[200~\x1bOPq": {other, 'j', other, other, 'q'},
		"ä€":                         {'ä', '€'},
		"\xff.":                      {other, '.'},
		"":                           nil,
	} {
		if got, rest := Keys(text); !slices.Equal(got, want) || rest != "" {
			t.Errorf("%q: got %v, %q, want %v", text, got, rest, want)
		}
	}
	for _, text := range []string{"\x1b[", "\x1bO", "\x1b[5", "\xe2\x82", "\x1b[1;"} {
		if got, rest := Keys("j" + text); !slices.Equal(got, []Key{'j'}) || rest != text {
			t.Errorf("j%q: got %v, %q", text, got, rest)
		}
	}
	if got, rest := Keys("\x1b[" + strings.Repeat("1", 99)); !slices.Equal(got, []Key{other}) || rest != "" {
		t.Errorf("an endless sequence: got %v, %q", got, rest)
	}
}
