package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const printed = `warning: something of make
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    a_test.go:2: got 1, want 2\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Test":"TestSkipped","Output":"    a_test.go:3: needs strace\n"}
{"Action":"output","Package":"p","Test":"TestSkipped","Output":"--- SKIP: TestSkipped\n"}
{"Action":"skip","Package":"p","Test":"TestSkipped"}
{"Action":"output","Package":"p","Test":"TestSkipped/two","Output":"        b_test.go:9: needs strace\n"}
{"Action":"skip","Package":"p","Test":"TestSkipped/two"}
{"Action":"skip","Package":"p","Test":"TestSilent"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"Action":"output","Package":"q","Output":"ok  \tq\t0.1s\n"}
{"Action":"pass","Package":"q"}
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: syntax error\n"}
{"Action":"output","Package":"s","Test":"TestKilled","Output":"panic: stop\n"}
`

func TestReport(t *testing.T) {
	r := readReport([]byte(printed))
	want := "    a_test.go:2: got 1, want 2\n--- FAIL: TestBad\nFAIL\tp\t0.1s\npanic: stop\n" +
		"warning: something of make\nr.go:1: syntax error\n"
	if got := r.failures(); got != want {
		t.Errorf("of failures: %q, want %q", got, want)
	}

	if got, want := r.skipped(), []string{
		"TestSilent: no reason given", "TestSkipped and 1 more: needs strace",
	}; !slices.Equal(got, want) {
		t.Errorf("skipped: %q, want %q", got, want)
	}

	if got, want := r.counts(), "  1 tests of 1 packages"; got != want {
		t.Errorf("counts: %q, want %q", got, want)
	}
	if got := readReport([]byte("gofmt would change: x\n")); got.counts() != "" ||
		got.failures() != "gofmt would change: x\n" {
		t.Error("what is no test is taken for one")
	}
}

// A part that fails does not hide the others.
func TestFailure(t *testing.T) {
	dir := t.TempDir()
	makefile := "good:\n\t@echo chatter\nbad:\n\t@echo the cause; exit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Chdir(dir)

	var out bytes.Buffer
	c := checker{out: &out}
	c.run([]string{"bad", "good"})
	if c.finish() {
		t.Error("it has passed")
	}

	text := out.String()
	if !strings.Contains(text, "the cause\n") || !strings.Contains(text, "bad          FAILED") {
		t.Errorf("the failure is not told:\n%s", text)
	}
	if strings.Contains(text, "chatter") || !strings.Contains(text, "good         ok") {
		t.Errorf("the other part is not told in one line:\n%s", text)
	}
	if !strings.HasSuffix(text, "\nmake check: failed\n1 passed, 1 failed\n") {
		t.Errorf("the end is %q", text)
	}
}

// A part that only computes runs beside one that waits, and leaves the processors to it.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	makefile := "test:\n\t@for i in $$(seq 600); do [ ! -e niceness ] || exit 0; sleep 0.1; done; " +
		"exit 1\n" +
		"vet:\n\t@nice >niceness\n"
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Chdir(dir)

	var out bytes.Buffer
	c := checker{out: &out}
	c.run([]string{"test", "vet"})
	if !c.finish() {
		t.Errorf("one waits for the other:\n%s", &out)
	}
	if got, err := os.ReadFile("niceness"); string(got) != "19\n" {
		t.Errorf("what computes has niceness %q (%v), want 19", got, err)
	}
}

// When nothing is computing any more, the next waiting part runs beside the first.
func TestTwoThatWait(t *testing.T) {
	dir := t.TempDir()
	makefile := "test:\n\t@for i in $$(seq 600); do [ ! -e computed -o ! -e beside ] || exit 0; " +
		"sleep 0.1; done; exit 1\n" +
		"rigs:\n\t@[ -e computed ] && touch beside\n" +
		"vet:\n\t@touch computed\n"

	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Chdir(dir)

	var out bytes.Buffer
	c := checker{out: &out}
	c.run([]string{"vet", "test", "rigs"})
	if !c.finish() {
		t.Errorf("one waits for the other, or does not for what computes:\n%s", &out)
	}
}

func TestTools(t *testing.T) {
	all, err := readTools()
	if err != nil || len(all) < 30 {
		t.Fatalf("%d tools, %v", len(all), err)
	}

	nowhere := tools{
		{"check", "no-such-program", []string{"a", "b"}, "this"},
		{"check", "no-such-one", []string{"b"}, "that"},
		{"soak", "no-such-thing", []string{"c"}, "the rest"},
		{"check", "/no/such/path", []string{"src:d"}, "the sources"},
		{"check", "sh", []string{"dash"}, "nothing"},
	}

	var out bytes.Buffer
	c := checker{out: &out, strict: true}
	c.tools(nowhere)
	if c.failed != 3 || !strings.HasPrefix(out.String(),
		"make check: no no-such-program: leaves out this\n") {
		t.Errorf("%d missing tools fail, want 3:\n%s", c.failed, &out)
	}

	out.Reset()
	if nowhere.complete("check", &out) || strings.Count(out.String(), "\n") != 1 ||
		!strings.Contains(out.String(), "apt-get install a b; sh scripts/upstream/source.sh d\n") {
		t.Errorf("what is missing is told as %q", &out)
	}
}
