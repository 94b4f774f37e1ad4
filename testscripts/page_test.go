//go:build unix

package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// A block is a fenced block of a page.
type block struct {
	language string
	file     string // the file to which the reader saves it
	text     string
}

// fence is one block, and the line before it that says "Save this as `FILE`", if there is one.
var fence = regexp.MustCompile("(?ms)(?:^[^\\n]*Save this as\\s`([^`\\n]+)`[^\\n]*\\n\\n)?^```(\\w+)\\n(.*?)^```$")

// page returns the blocks of a page, in order.
func page(text string) (all []block) {
	for _, found := range fence.FindAllStringSubmatch(text, -1) {
		all = append(all, block{language: found[2], file: found[1], text: found[3]})
	}
	return all
}

// A step is one command of a console block, and what the page shows that it prints.
type step struct{ command, shows string }

// steps splits a console block: lines after "$ " are commands, lines after "> " continue them, and
// all others are output.
func steps(t *testing.T, text string) (all []step) {
	for _, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\n")
		command, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		last := len(all) - 1

		switch {
		case begins:
			all = append(all, step{command: command})
		case last < 0:
			t.Fatalf("%q: want a command first", line)
		case goesOn && all[last].shows == "":
			all[last].command += "\n" + more
		default:
			all[last].shows += line + "\n"
		}
	}

	return all
}

// ofJobs is what an interactive shell says of its jobs.
var ofJobs = regexp.MustCompile(`(?m)^\[\d+\].*\n|^Killed\b.*\n`)

// shown returns a pattern for a text that a page shows. A line of three dots stands for any lines,
// other dots for part of a line.
func shown(text string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(blurredPage(text))
	pattern = regexp.MustCompile(`(?m)^ *\\.\\.\\.\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
	return regexp.MustCompile(`^` + strings.ReplaceAll(pattern, `\.\.\.`, `.*`) + `$`)
}

// blurs are what is another one each time.
var blurs = []struct {
	is   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`"(pid|startTicks|monotonicMs|staleForMs)": ?\d+`), `"$1": N`},
	{regexp.MustCompile(`"(hostId|bootId|pidNamespace)": ?"[^"]*"`), `"$1": ID`},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|h|m|s))+ ago`), "AGO"},
	{regexp.MustCompile(`, for (\d+(\.\d+)?(ms|h|m|s))+`), ", for AGE"}, // ms before m
	{regexp.MustCompile(`found (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d`), "found CLOCK"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "RUN"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-ID"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "RUN"},
	{regexp.MustCompile(`\b(process|pid) \d+`), "$1 N"},
	{regexp.MustCompile(`  [1-9]\d+  `), "  N  "}, // a process in a table
	{regexp.MustCompile(`\b  +`), "  "},           // of tables, whose columns are as wide as what is in them
	{regexp.MustCompile(`(?m)^ {4,}`), "    "},
}

// pauses reports whether readers pause before each command, for longer than the default threshold.
// No participant may be declared stale because a reader takes time.
func pauses() bool { return os.Getenv("DPL_SOAK") != "" }

// revisions grow with each heartbeat, so they depend on the reader's pauses.
var revisions = regexp.MustCompile(`(revision"?[: ]*)\d+`)

// blurredPage returns text without parts that differ each time, and without the shell's messages
// about jobs.
func blurredPage(text string) string {
	text = ofJobs.ReplaceAllString(text, "")
	for _, b := range blurs {
		text = b.is.ReplaceAllString(text, b.name)
	}
	if pauses() {
		text = revisions.ReplaceAllString(text, "${1}N")
	}
	return text
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	if err := proc.WriteProgram(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// section returns what is between a heading of the second level and the next one.
func section(t *testing.T, text, heading string) string {
	_, after, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("want a section %s", heading)
	}
	within, _, _ := strings.Cut(after, "\n## ")
	return within + "\n"
}

// fenced returns the one block of text in language.
func fenced(t *testing.T, text, language string) string {
	all := blocks(text, language)
	if len(all) != 1 {
		t.Fatalf("%d blocks of %s, want one", len(all), language)
	}
	return all[0]
}

// blocks returns the blocks of text in language.
func blocks(text, language string) (all []string) {
	for _, after := range strings.Split(text, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(after, "\n```\n")
		all = append(all, block+"\n")
	}
	return all
}

// rows returns the first cells of tables in text that match pattern; if it has a group, that.
func rows(text, pattern string) []string {
	var cells []string
	for _, match := range regexp.MustCompile(`(?m)^\| `+pattern+` \|`).FindAllStringSubmatch(text,
		-1) {
		cell := match[len(match)-1]
		cells = append(cells, strings.Trim(cell, "| "))
	}
	return cells
}
