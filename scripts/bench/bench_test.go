//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
)

// The test binary is also its own worker.
func TestMain(m *testing.M) {
	if job := os.Getenv(workerVariable); job != "" {
		if err := work(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(programs.Run(m))
}

// All of it can be run, and loses nothing. Nothing is asked of the times.
func TestQuick(t *testing.T) {
	dir := t.TempDir()
	o := options{
		bin: build.Commands(t, "../.."), dir: dir, json: filepath.Join(dir, "bench.json"),
		svg:  filepath.Join(dir, "bench.svg"),
		only: regexp.MustCompile(""), plan: quickPlan(),
	}

	var out bytes.Buffer
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}

	var got report
	text, err := os.ReadFile(o.json)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}

	checkSeries(t, got)
	if len(got.Goals) != len(goals) {
		t.Errorf("got %d goals, want %d", len(got.Goals), len(goals))
	}

	for _, g := range got.Goals {
		if (g.Measured == nil) != (g.Verdict == notMeasured) {
			t.Errorf("%s: got %v, %s", g.About, g.Measured, g.Verdict)
		}
	}

	checkXML(t, o.svg)
	plot, err := os.ReadFile(o.svg)
	contestant := "dpl"
	if _, err := exec.LookPath("cc"); err == nil {
		contestant = "c" // is compiled
	}
	if err != nil || !strings.Contains(string(plot), labelOf(contestant)) ||
		strings.Contains(string(plot), labelOf("dry-run")) {
		t.Errorf("the plot lacks a contestant, or has a label without a line: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "dpl-bench-*")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// checkSeries looks for each work of ours, and for values that cannot be.
func checkSeries(t *testing.T, got report) {
	t.Helper()
	byName := make(map[string]summary)
	for _, s := range got.Series {
		byName[s.Name] = s
		for _, v := range s.Values {
			switch {
			case s.Unit == "s" && v <= 0, strings.HasSuffix(s.Name, "/lost") && v != 0:
				t.Errorf("%s: got %v", s.Name, s.Values)
			}
		}
	}

	for _, name := range []string{
		"edits/null", "big/null", "heartbeat/3/dpl", "heartbeat/100/dpl-pid", "heartbeat/1000/dpl",
		"push/3/dpl", "pop/1000/dpl",
		"writers/1/dpl/throughput", "writers/4/dpl/p99", "writers/4/dpl/lost",
		"cleanup/1/dpl", "cleanup/100/dpl-pid", "cleanup/100/dpl-stale", "orchestrate/1/dpl",
		"orchestrate/10/dpl",
		"wait/dpl", "wait/idle-ticks", "run/dpl", "run/sequence",
		"enqueue/10/dpl", "enqueue/100/dpl", "take/10/dpl", "take/100/dpl",
		"enqueue/0/remembered-none", "enqueue/0/remembered-all",
		"drain/dpl", "drain/dpl-loop", "reclaim/dpl", "reclaim/dpl-wait", "ask/dpl",
	} {
		if s := byName[name]; s.Rounds == 0 || s.Rounds != len(s.Values) {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

func checkXML(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	d := xml.NewDecoder(f)
	for err == nil {
		_, err = d.Token()
	}

	if !errors.Is(err, io.EOF) {
		t.Errorf("%s: %v", file, err)
	}
}
