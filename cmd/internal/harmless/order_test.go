package harmless

import (
	"strings"
	"testing"
)

// Right-to-left letters are escapes where two different lines would be drawn alike: the first two of
// each row are, by the algorithm of annex 9 of Unicode. Other lines keep them.
func TestTurned(t *testing.T) {
	t.Parallel()
	for _, alike := range [][2]string{
		{"rm -rf /srv/א/1/2", "rm -rf /srv/1/2/א"}, {"א1", "1א"}, {"א(ב)", "(ב)א"}, {"[ا] x", "ا[x]"},
		{"٣/א", "א/٣"}, {"א ۱", "۱ א"}, {"א\u202eב", "ב\u202eא"}, {"ܐ{ܒ}", "{ܒ}ܐ"},
		{"א²", "²א"}, {"א₁/ב", "ב/₁א"}, {"⒈א", "א⒈"},
	} {
		one, other := Text(alike[0]), Text(alike[1])
		if one == other || strings.ContainsFunc(one+other, isRightToLeft) {
			t.Errorf("%q is drawn %s, and %q %s", alike[0], one, alike[1], other)
		}
		if one = JSON(`["` + alike[0] + `"]`); strings.ContainsFunc(one, isRightToLeft) {
			t.Errorf("%q is %s in JSON", alike[0], one)
		}
	}
	for _, line := range []string{"שלום עולם", "rm -rf /srv/א/ב", "مرحبا, x: y!", "١٢"[:0], "日本1"} {
		if got := Text(line); got != line {
			t.Errorf("%q is drawn %s", line, got)
		}
	}
}
