package explain_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/explain"
)

// A shell takes what others have written for one word, whatever it is.
func TestCommand(t *testing.T) {
	words := []string{"a", "a b", "", "it's", "$HOME", "`id`", "a;b", "~", "*", "\\", `"`, "é", "a=b", "#x"}
	line := explain.Command(append([]string{"printf", "<%s>"}, words...)...)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
	if want := "<" + strings.Join(words, "><") + ">"; string(out) != want {
		t.Errorf("%s: got %q, %v, want %q", line, out, err, want)
	}
}
