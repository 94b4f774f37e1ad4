package draw

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// line returns a line of plain text.
func line(text string, typed bool) (l Line) {
	for _, r := range text {
		l.Cells = append(l.Cells, Cell{Rune: r})
	}
	l.Typed = typed
	return l
}

func picture() Picture {
	return Picture{Title: "a & b", Columns: 20, Rows: 2, Animated: true, Slides: []Slide{
		{line("$ first", true), line("CALL  <PID>", false)},
		{line("$ second", true), line("1", false), line("2", false), line("$ third", true)},
	}}
}

func TestSVG(t *testing.T) {
	svg := SVG(picture())
	var parsed struct {
		Title string `xml:"title"`
		Desc  string `xml:"desc"`
	}
	if err := xml.Unmarshal([]byte(svg), &parsed); err != nil {
		t.Fatalf("%v\n%s", err, svg)
	}

	if parsed.Title != "a & b" || parsed.Desc != picture().Text() {
		t.Errorf("its title is %q, and its description %q", parsed.Title, parsed.Desc)
	}
	for _, want := range []string{
		`x="50.4" y="33" textLength="42"`, // the second column has its own place
		`<g opacity="0" class="k1">`,      // the first slide is not to be seen without animation
		`transform="translate(0 -38)"`,    // two lines have no room at the end
		"{transform:translateY(-19px)}", "prefers-reduced-motion", "prefers-color-scheme:dark",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

// A still picture shows the end of the last slide.
func TestStill(t *testing.T) {
	still := picture()
	still.Animated = false
	svg := SVG(still)
	_, drawn, _ := strings.Cut(svg, "</style>")
	if strings.Contains(svg, "@keyframes") || strings.Contains(drawn, "first") ||
		strings.Contains(drawn, "second") || !strings.Contains(drawn, "third") {
		t.Error(svg)
	}
}

func TestRuns(t *testing.T) {
	l := line("└─ build  make", false)
	for i := range 3 {
		l.Cells[i].Tone = Faint
	}

	runs := l.runs()
	want := []run{{0, "└─", Faint}, {3, "build", Plain}, {10, "make", Plain}}
	if len(runs) != len(want) {
		t.Fatalf("got %+v, want %+v", runs, want)
	}
	for i := range want {
		if runs[i] != want[i] {
			t.Errorf("got %+v, want %+v", runs[i], want[i])
		}
	}
}

// What is printed comes after what is typed, and the next slide after a pause.
func TestSchedule(t *testing.T) {
	p := picture()
	p.Slides[0][1].Pause = time.Second
	plan := schedule(p)
	typed, printed := plan.slides[0][0], plan.slides[0][1]
	if typed.begin != beforeTyping || typed.end != beforeTyping+7*perLetter ||
		printed.begin != typed.end+beforeOutput || printed.end != printed.begin {
		t.Errorf("typed %+v, printed %+v", typed, printed)
	}
	if got, want := plan.starts[1], printed.end+time.Second; got != want {
		t.Errorf("the second slide comes at %v, want %v", got, want)
	}
	if plan.slides[1][1].begin != plan.slides[1][2].begin {
		t.Errorf("lines come apart: %+v", plan.slides[1])
	}
}

// Every text can be read in both schemes: WCAG 2.2 wants a contrast of 4.5.
func TestContrast(t *testing.T) {
	for name, s := range map[string]scheme{"light": light(), "dark": dark()} {
		for _, back := range []string{s.back, s.bar} {
			for tone, colour := range s.tones {
				if c := contrast(t, colour, back); c < 4.5 {
					t.Errorf("%s: %s on %s (tone %d): contrast %.2f", name, colour, back, tone, c)
				}
			}
		}
	}
}

// contrast returns the contrast of two colours as WCAG 2.2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	brighter, darker := luminance(t, a), luminance(t, b)
	if brighter < darker {
		brighter, darker = darker, brighter
	}
	return (brighter + 0.05) / (darker + 0.05)
}

func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}

		value := float64(part) / 255
		if value <= 0.04045 {
			value /= 12.92
		} else {
			value = math.Pow((value+0.055)/1.055, 2.4)
		}
		sum += weight * value
	}
	return sum
}

// A page is in the picture as it is. Its description is what can be read.
func TestPage(t *testing.T) {
	p := Picture{Title: "a page", Page: Page{Width: 300, Height: 200,
		HTML: "<!DOCTYPE html>\n<html lang=\"en\"><head><style>b{color:red}</style></head>" +
			"<body><p>one <b>two</b>\n three</p></body></html>\n"}}
	svg := SVG(p)
	var parsed struct {
		Desc string `xml:"desc"`
		Page struct {
			Body struct {
				P string `xml:"p"`
			} `xml:"http://www.w3.org/1999/xhtml html>body"`
		} `xml:"foreignObject"`
	}
	if err := xml.Unmarshal([]byte(svg), &parsed); err != nil {
		t.Fatalf("%v\n%s", err, svg)
	}
	if parsed.Desc != "one\ntwo\nthree\n" || parsed.Page.Body.P != "one \n three" {
		t.Errorf("%+v\n%s", parsed, svg)
	}
}
