package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// asks returns what the command every, which takes arguments, prints when it is run with args.
func asks(t *testing.T, args ...string) string {
	t.Helper()
	c := &every{takesArgs: true}
	var stdout, stderr bytes.Buffer
	env := &Env{Program: "every", Stdout: &stdout, Stderr: &stderr, flags: c.CommonFlags()}
	if status := env.run(c, args, "Every.", "It has details."); status != StatusOK || stderr.Len() > 0 || c.ran {
		t.Fatalf("%q: status %d, stderr %q, has run: %v", args, status, stderr.String(), c.ran)
	}
	return stdout.String()
}

// TestHelpJSON: --help --json, in either order, prints all that --help does, and nothing else.
func TestHelpJSON(t *testing.T) {
	help, text := asks(t, "--help"), asks(t, "--help", "--json")
	if other := asks(t, "--json", "--help"); text != other {
		t.Errorf("got %s\nthe other way round %s", text, other)
	}
	var got struct {
		SchemaVersion                        int
		Program, Summary, Details, Arguments string
		Flags                                []struct {
			Name, Short, Value, Help string
			Values                   []string
			Repeated, MayBeEmpty     bool
		}
		ExitStatuses []struct{ Status, Meaning, OfAll string }
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.SchemaVersion != 1 || got.Program != "every" || got.Summary != "Every." || got.Details != "It has details." || got.Arguments != "[-- ARGS]" {
		t.Errorf("got %+v", got)
	}
	var names []string
	for _, f := range got.Flags {
		names = append(names, f.Name)
		want := "--" + f.Name
		if f.Short != "" {
			want = "-" + f.Short + ", " + want
		}
		if f.Value != "" {
			want += " " + f.Value
		}
		flat := strings.Join(strings.Fields(help), " ")
		_, after, found := strings.Cut(help, "  "+want)
		after, _, _ = strings.Cut(after, "\n  ")
		if !found || !strings.Contains(flat, f.Help) || f.Repeated != strings.Contains(after, "repeated") {
			t.Errorf("%+v: is otherwise in the help:\n%s", f, help)
		}
		if want := f.Name == "text" || f.Name == "optional"; f.MayBeEmpty != want {
			t.Errorf("--%s: may be empty: got %v", f.Name, f.MayBeEmpty)
		}
		if f.Name == "one" && !slices.Equal(f.Values, []string{"asleep", "awake", "dead"}) {
			t.Errorf("--one: got values %q", f.Values)
		}
	}
	flat := strings.Join(strings.Fields(help), " ")
	for _, s := range got.ExitStatuses {
		if !strings.Contains(flat, s.Status+" "+s.Meaning) {
			t.Errorf("status %s: the help does not say %q", s.Status, s.Meaning)
		}
	}
	if len(got.ExitStatuses) == 0 {
		t.Error("no exit statuses")
	}
	if want := strings.Count(help, "\n      --") + strings.Count(help, "\n  -"); len(names) != want {
		t.Errorf("%d flags %q, the help has %d:\n%s", len(names), names, want, help)
	}
}

// TestWords: the help names the words that a flag takes, in its placeholder if it has no other.
func TestWords(t *testing.T) {
	if help := asks(t, "--help"); !strings.Contains(help, "--one STATE           one of three; STATE is asleep, awake or dead\n") {
		t.Errorf("--one STATE: %s", help)
	}
	if help := asks(t, "--help"); !strings.Contains(help, "--many S              texts; may be repeated\n") {
		t.Errorf("--many: %s", help)
	}
	if help := asks(t, "--help"); !strings.Contains(help, "--sync none|file|full\n") {
		t.Errorf("--sync: %s", help)
	}
}
