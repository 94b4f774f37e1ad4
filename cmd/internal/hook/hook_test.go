package hook

import (
	"errors"
	"io"
	"testing"
)

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
