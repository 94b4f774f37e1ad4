//go:build linux

package testscripts

import (
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestTutorial does all that spec/tutorial.md shows, in order, at a terminal.
func TestTutorial(t *testing.T) {
	t.Parallel()
	strict.Program(t, "python3")
	bin, blocks := built(t), page(read(t, "spec/tutorial.md"))

	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			r := beginReading(t, bin, shell, t.TempDir())
			for _, b := range blocks {
				if b.language == "crontab" {
					k := &kitchen{t: t, bin: bin}
					k.installed(t, t.TempDir(),
						strings.TrimSuffix(strings.TrimPrefix(b.text, "* * * * * "), "\n"))
					continue
				}
				r.follow(b)
			}

			r.leave()
		})
	}
}

// TestTwoMinutes does what the README shows in two minutes.
func TestTwoMinutes(t *testing.T) {
	t.Parallel()
	r := beginReading(t, built(t), "bash", t.TempDir())
	for _, b := range page(section(t, readme(t), "In two minutes")) {
		r.follow(b)
	}
	r.leave()
}
