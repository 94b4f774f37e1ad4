//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// Some scenarios, once each: the rig works. make soak-chaos runs all, for hours.
func TestOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	var log bytes.Buffer
	r := &runner{
		bin: build.Commands(t, "../.."), seed: 1, log: &log,
		pattern: regexp.MustCompile("pushes|death|closed|empty"),
	}

	if !r.run(t.Context(), 0) {
		t.Errorf("something did not hold:\n%s", &log)
	}
}

// A violated promise ends the run, with the name of the scenario and the seed.
func TestViolation(t *testing.T) {
	defer func(was []scenario) { scenarios = was }(scenarios)
	scenarios = []scenario{
		{"fine", nil, func(*world) {}},
		{"process left", []string{"sleep"}, func(w *world) {
			if err := w.command("sleep", "1000").Start(); err != nil {
				t.Error(err)
			}
			if len(w.processes()) != 1 {
				w.fail("a process is not found")
			}
			w.fail("it did not hold")
		}},
		{"impossible", []string{"no-such-program"}, nil},
	}

	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "dpl"), nil, 0o700); err != nil {
		t.Fatal(err)
	}

	var log bytes.Buffer
	r := &runner{bin: bin, seed: 7, log: &log, pattern: regexp.MustCompile("")}
	if r.run(t.Context(), 0) {
		t.Error("all held")
	}

	for _, want := range []string{
		"left out: impossible: needs no-such-program",
		"FAILED: process left: round 2 of seed 7: it did not hold",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("want %q in\n%s", want, &log)
		}
	}
}
