//go:build linux

package testscripts

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/scripts/pictures/draw"
	"github.com/dpl-project/dpl/scripts/pictures/play"
	"github.com/dpl-project/dpl/scripts/pictures/scene"
	"github.com/dpl-project/dpl/scripts/pictures/scenes"
	"github.com/dpl-project/dpl/testscripts/strict"
	"github.com/rogpeppe/go-internal/diff"
)

// Limits for a picture: what loads at once, and what one looks at to its end.
const (
	largestPicture = 60 << 10
	longestLoop    = 20 * time.Second
)

// TestPictures plays the scenes again: each picture in spec/pictures shows what the commands print.
func TestPictures(t *testing.T) {
	t.Parallel()
	bin := built(t)
	all, err := scenes.All()
	if err != nil {
		t.Fatal(err)
	}

	names := make(map[string]bool)
	for _, s := range all {
		names[s.Name+".svg"] = true
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			checkPicture(t, bin, s)
		})
	}

	files, err := filepath.Glob(filepath.Join(root, "spec", "pictures", "*.svg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !names[filepath.Base(file)] {
			t.Errorf("%s: no scene draws it", file)
		}
	}
}

// checkPicture plays a scene until it makes the picture, at most three times: on a machine with
// other work, one participant may see a crash before another, and a heartbeat may come in between.
func checkPicture(t *testing.T, bin string, s scene.Scene) {
	file := filepath.Join(root, "spec", "pictures", s.Name+".svg")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	var p draw.Picture
	for range 3 {
		p, err = play.Play(s, bin, t.TempDir())
		if errors.Is(err, play.ErrNeeds) {
			strict.Skip(t, err.Error())
		}
		if err == nil && draw.SVG(p) == string(kept) {
			break
		}
	}

	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Text(), description(t, kept); got != want {
		t.Fatalf("make pictures, and look at %s: the commands print something else:\n%s", file,
			diff.Diff("picture", []byte(want), "commands", []byte(got)))
	}
	if draw.SVG(p) != string(kept) {
		t.Errorf("make pictures, and look at %s: its text is right, but it is drawn otherwise", file)
	}
	if len(kept) > largestPicture {
		t.Errorf("%s: %d bytes, want at most %d", file, len(kept), largestPicture)
	}
	if length := p.Length(); p.Animated && length > longestLoop {
		t.Errorf("%s: it takes %v, want at most %v", file, length, longestLoop)
	}
}

// description returns the text of a picture, which is its description.
func description(t *testing.T, svg []byte) string {
	t.Helper()
	var parsed struct {
		Desc string `xml:"desc"`
	}
	if err := xml.Unmarshal(svg, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed.Desc
}
