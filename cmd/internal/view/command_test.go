package view

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell takes what others have written for one word, whatever it is.
func TestCommand(t *testing.T) {
	words := []string{"a", "a b", "", "it's", "$HOME", "`id`", "a;b", "~", "*", "\\", `"`, "é", "a=b", "#x"}
	line := Command(append([]string{"printf", "<%s>"}, words...)...)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
	if want := "<" + strings.Join(words, "><") + ">"; string(out) != want {
		t.Errorf("%s: got %q, %v, want %q", line, out, err, want)
	}
}
