package hook

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestRunDraws checks that a hook may send its input to a terminal or a mail program as it is.
func TestRunDraws(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if _, err := Run("cat", `{"text":"a\u001b b\u202e`+"\u202eg\u0456t"+`"}`, nil, &out); err != nil {
		t.Fatal(err)
	}
	if want := `{"text":"a\u001b b\u202e\u202eg\u0456t"}` + "\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"exit 0": false, "exit 1": false, "exit 7": false, "exit 74": false, "exit 76": false,
		"exit 75": true, "exit 126": true, "exit 127": true, "no-such-command": true,
		"kill -KILL $$": false,
	} {
		if got := Again(Run(command, "alert", nil, io.Discard)); got != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
	if !Again(true, errors.New("killed after 10s")) || !Again(false, errors.New("no sh")) {
		t.Error("a hook that hangs, or was not run, is done")
	}
}
