//go:build linux

package testscripts

import (
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
				r.follow(b)
			}

			r.leave()
		})
	}
}
