package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// allParts are the targets of the Makefile that make check runs, the quick ones first.
var allParts = []string{
	"format", "tidy", "shell", "conformance", "vet", "staticcheck", "model", "commands", "scripts",
	"test", "rigs", "coverage", "demo-all",
}

// waits are the parts that spend much of their time waiting for processes. The parts that only
// compute run beside them, at the lowest priority, and take what is left.
var waits = map[string]bool{
	"commands": true, "test": true, "rigs": true, "scripts": true, "coverage": true, "demo-all": true,
}

// needed is the program without which there is nothing to do in a part.
var needed = map[string][]string{
	"conformance": {"python3"}, "shell": {"shellcheck"}, "model": {"spin", "cc"},
}

// goTest is go test without its vet, because there is a part that does all of that.
const goTest = "go test -json -vet=off -timeout 30m"

// trimmed is in GOFLAGS, because the Makefile builds the commands with it. Without it, the compiler
// would make everything twice.
const trimmed = "-trimpath"

// A checker runs parts, and counts them.
type checker struct {
	out    io.Writer
	strict bool

	mu             sync.Mutex
	passed, failed int
}

// tools reports what is left out because a program is missing.
func (c *checker) tools(all tools) {
	for _, t := range all.missing("check") {
		c.printf("make check: no %s: leaves out %s\n", t.program, t.without)
		if c.strict {
			c.failed++
		}
	}

	if c.failed > 0 {
		c.printf("make check: STRICT leaves nothing out\n")
	}
}

func (c *checker) printf(format string, arguments ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, format, arguments...)
}

// run runs all parts, two at a time: one that waits and one that only computes, while there are
// both.
func (c *checker) run(parts []string) {
	computing, waiting := make(chan string, len(parts)), make(chan string, len(parts))
	for _, name := range parts {
		if waits[name] {
			waiting <- name
		} else {
			computing <- name
		}
	}

	close(computing)
	close(waiting)

	compute := func() {
		for name := range computing {
			c.part(name, "nice", "-n", "19")
		}
	}

	wait := func() {
		for name := range waiting {
			c.part(name)
		}
	}

	var group sync.WaitGroup
	group.Go(func() { compute(); wait() })
	group.Go(func() { wait(); compute() })
	group.Wait()
}

// part runs one part by the program before, if there is one, and prints its line.
func (c *checker) part(name string, before ...string) {
	if why := leftOut(name); why != "" {
		c.printf("%-12s left out: %s\n", name, why)
		return
	}

	began := time.Now()
	argv := append(before, "make", "--no-print-directory", "-s", "GO_TEST="+goTest, name)
	make := exec.Command(argv[0], argv[1:]...)
	make.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(trimmed+" "+os.Getenv("GOFLAGS")))
	var output bytes.Buffer
	make.Stdout, make.Stderr = &output, &output
	err := make.Run()
	took := fmt.Sprintf("%6s %6s", time.Since(began).Round(time.Second), used(make.ProcessState))

	report := readReport(output.Bytes())
	c.mu.Lock()
	defer c.mu.Unlock()

	if err != nil {
		c.failed++
		fmt.Fprintf(c.out, "%s%-12s FAILED  %s  %s\n", report.failures(), name, took, err)
		return
	}

	c.passed++
	fmt.Fprintf(c.out, "%-12s ok  %s%s\n", name, took, report.counts())
	for _, line := range report.skipped() {
		fmt.Fprintf(c.out, "%12s left out: %s\n", "", line)
	}
}

// used returns the processor time of a process and its children.
func used(ended *os.ProcessState) time.Duration {
	if ended == nil { // it could not be started
		return 0
	}
	return (ended.UserTime() + ended.SystemTime()).Round(time.Second)
}

// leftOut returns why a part cannot be run here, or "".
func leftOut(name string) string {
	if name == "demo-all" && runtime.GOOS != "linux" {
		return "not Linux"
	}

	for _, program := range needed[name] {
		if !there(program) {
			return "no " + program
		}
	}

	return ""
}

// finish prints the last lines, and reports whether all has passed.
func (c *checker) finish() bool {
	word := "passed"
	if c.failed > 0 {
		word = "failed"
	}
	c.printf("make check: %s\n%d passed, %d failed\n", word, c.passed, c.failed)
	return c.failed == 0
}
