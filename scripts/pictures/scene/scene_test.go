package scene

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	s, err := Parse("x", `# a comment
title A title
size 92x20
animated
needs cc ps
pids 1 2
file run.sh 755
	#!/bin/sh
	exit 1

ages 1s
$ ls
pause 2s
% cd x
until test -e y
terminal
`)
	if err != nil {
		t.Fatal(err)
	}

	if s.Title != "A title" || s.Columns != 92 || s.Rows != 20 || !s.Animated ||
		len(s.Needs) != 2 || len(s.PIDs) != 2 {
		t.Errorf("%+v", s)
	}
	if f := s.Files[0]; f.Name != "run.sh" || f.Mode != 0o755 || f.Content != "#!/bin/sh\nexit 1\n" {
		t.Errorf("%+v", f)
	}

	kinds := []Kind{Shown, Hidden, Until, Terminal}
	if len(s.Steps) != len(kinds) {
		t.Fatalf("%+v", s.Steps)
	}
	for i, step := range s.Steps {
		if step.Kind != kinds[i] {
			t.Errorf("%+v: want kind %d", step, kinds[i])
		}
	}
	if first := s.Steps[0]; first.Pause != 2*time.Second || first.Ages[0] != "1s" {
		t.Errorf("%+v", first)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"title x\n$ ls\nsizes 1x1":         `x:3: "sizes": no such word here`,
		"\tcontent":                        "x:1: it belongs to no file",
		"title x\npause 1s":                `x:2: "pause": no such word here`,
		"title x\n$ ls\npause soon":        `x:3: time: invalid duration "soon"`,
		"title x\nsize big":                "x:2: ",
		"title x":                          "x: it has no title or no steps",
		"file x 9z9":                       "x:1: ",
		"title x\n$ ls\nfile x 755\nkeep":  "",
		"title x\n$ ls\n# all of it, done": "",
	} {
		_, err := Parse("x", text)
		got := "fine"
		if err != nil {
			got = err.Error()
		}
		if want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %q", text, got, want)
		}
	}
}
