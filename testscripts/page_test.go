//go:build linux

package testscripts

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A block is a fenced block of a page.
type block struct {
	language string
	file     string // to which the reader is to save it
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

// steps takes a console block apart: lines after "$ " are commands, lines after "> " go on with them, the others are shown.
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

// A reader follows a page at a terminal, in an interactive shell.
type reader struct {
	*typist
	t   *testing.T
	tmp string // for temporary directories
}

// mark comes after what a step prints, and before its exit status.
const mark = "8<--- "

// shells are those in which a page may be followed, and what keeps them from drawing lines themselves.
var shells = map[string][]string{
	"bash": {"--norc", "--noprofile", "--noediting", "-i"},
	"dash": {"-i"},
	"zsh":  {"-f", "+Z", "+o", "prompt_sp", "+o", "prompt_cr", "-i"},
}

// beginReading starts a shell whose directory for temporary ones is tmp.
func beginReading(t *testing.T, bin, shell, tmp string) *reader {
	y := sitDown(t, bin, program(t, shell), shells[shell]...)
	y.enter(t, "export TMPDIR='"+tmp+"'; stty -echo -onlcr; PS1= PS2=; echo '8<''--- begun'")
	y.hear(t, mark+"begun\n")
	t.Cleanup(func() { endAll(tmp) })
	return &reader{typist: y, t: t, tmp: tmp}
}

// follow does what a block shows: saves it, or types its commands.
func (r *reader) follow(b block) {
	r.t.Helper()
	switch {
	case b.file != "":
		r.do(step{command: "cat >" + b.file + " <<'END OF FILE'\n" + b.text + "END OF FILE"})
	case b.language == "console":
		for _, s := range steps(r.t, b.text) {
			r.do(s)
		}
	default:
		r.t.Errorf("want a file to which this %s is saved, or console\n%s", b.language, b.text)
	}
}

// do types one command. It must succeed, and print what the page shows.
func (r *reader) do(s step) {
	r.t.Helper()
	var victim string
	if kill := kills.FindStringSubmatch(s.command); kill != nil {
		victim, _ = r.answer("echo " + kill[1])
	}
	got, status := r.answer(s.command)
	if status != "0" {
		r.t.Errorf("$ %s: exit status %s, want 0, or that the page shows it\n%s", s.command, status, got)
	}
	if victim != "" {
		r.gone(strings.TrimSpace(victim))
	}
	if !shown(s.shows).MatchString(blurredPage(got)) {
		r.t.Errorf("$ %s\nthe page shows\n%s\nbut it is\n%s", s.command, s.shows, got)
	}
}

// answer types one command, and returns what it prints and its exit status.
func (r *reader) answer(command string) (text, status string) {
	r.t.Helper()
	from := r.read
	r.enter(r.t, command)
	r.enter(r.t, "echo '"+mark+"'$?'.'")
	r.hear(r.t, mark)
	text = strings.TrimSuffix(r.seen()[from:r.read], mark)
	from = r.read
	r.hear(r.t, ".\n")
	return text, strings.TrimSuffix(r.seen()[from:r.read], ".\n")
}

// gone waits until a process that was killed has ended, which takes less time than a reader needs for the next line.
func (r *reader) gone(number string) {
	r.t.Helper()
	pid, err := strconv.Atoi(number)
	if err != nil {
		r.t.Errorf("kill: %v", err)
		return
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, alive := startTicks(pid); !alive {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d lives, though it was killed", pid)
		}
	}
}

// leave ends the shell. Nothing may work on, and no temporary file may be left.
func (r *reader) leave() {
	r.t.Helper()
	r.enter(r.t, "exit 0")
	if got := r.end(r.t); got != "0" {
		r.t.Errorf("the shell: got %s, want 0", got)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left := r.atWork()
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			r.t.Errorf("%d processes work on, want none", left)
			break
		}
	}
	if left, err := os.ReadDir(r.tmp); err != nil || len(left) > 0 {
		r.t.Errorf("%v, %v is left in %s, want nothing", err, left, r.tmp)
	}
}

// atWork returns how many processes have a ledger of this reader.
func (r *reader) atWork() (n int) {
	for _, environ := range environments() {
		if bytes.Contains(environ, []byte("\x00DPL_LEDGER="+r.tmp+"/")) || bytes.Contains(environ, []byte("\x00DPL_LEDGER="+r.ledger+"\x00")) {
			n++
		}
	}
	return n
}

var (
	// kills is a command that kills a process, and that process.
	kills = regexp.MustCompile(`^kill -(?:9|KILL) ([^;]+)`)
	// ofJobs is what an interactive shell says of its jobs.
	ofJobs = regexp.MustCompile(`(?m)^\[\d+\].*\n|^Killed\b.*\n`)
)

// shown returns what matches a text that a page shows. A line of three dots stands for any lines, others for part of one.
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
	{regexp.MustCompile(`\b(\d+(\.\d+)?(h|m|s|ms))+ ago`), "AGO"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-ID"},
	{regexp.MustCompile(`\b(process|pid) \d+`), "$1 N"},
	{regexp.MustCompile(`\b\d{4,7}\b`), "N"},
	{regexp.MustCompile(`\b  +`), "  "}, // of tables, whose columns are as wide as what is in them
}

// blurredPage returns text without what is another one each time, and what the shell says of its jobs.
func blurredPage(text string) string {
	text = ofJobs.ReplaceAllString(text, "")
	for _, b := range blurs {
		text = b.is.ReplaceAllString(text, b.name)
	}
	return text
}
