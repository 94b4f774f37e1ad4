package main

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"push", "pop", "run", "heartbeat", "orchestrate", "abort"}
	for _, tt := range []struct{ name, want string }{
		{"puhs", "push"}, {"psh", "push"}, {"pushh", "push"}, {"pup", "pop"},
		{"heartbaet", "heartbeat"}, {"hertbeet", "heartbeat"},
		{"orchestra", "orchestrate"}, {"boart", "abort"}, {"rnu", "run"},
		{"", ""}, {"x", ""}, {"quantum", ""}, {"status", ""}, {"ru", "run"},
	} {
		if got := nearest(tt.name, names); got != tt.want {
			t.Errorf("nearest to %q: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"push", "push", 0}, {"puhs", "push", 1}, {"push",
		"pop", 3}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
