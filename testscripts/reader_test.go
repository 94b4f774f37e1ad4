//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A reader follows a page at a terminal, in an interactive shell.
type reader struct {
	*typist
	t   *testing.T
	bin string
	tmp string // for temporary directories
}

// mark comes after what a step prints, and before its exit status.
const mark = "8<--- "

// shells are the shells in which a user may follow a page, with options that keep them from drawing
// lines themselves.
var shells = map[string][]string{
	"bash": {"--norc", "--noprofile", "--noediting", "-i"},
	"dash": {"-i"},
	"zsh":  {"-f", "+Z", "+o", "prompt_sp", "+o", "prompt_cr", "-i"},
}

// beginReading starts a shell whose directory for temporary ones is tmp.
func beginReading(t *testing.T, bin, shell, tmp string) *reader {
	y := sitDown(t, bin, strict.Program(t, shell), shells[shell]...)
	y.enter(t, "export LC_ALL=C.UTF-8 TMPDIR='"+tmp+"'; stty -echo -onlcr; PS1= PS2=; echo "+
		"'8<''--- begun'")
	y.hear(t, mark+"begun\n")
	t.Cleanup(func() { proc.EndAll(tmp) })
	return &reader{typist: y, t: t, bin: bin, tmp: tmp}
}

// follow does what a block shows: saves it, types its commands, or does what cron would. A text is
// only looked at.
func (r *reader) follow(b block) {
	r.t.Helper()
	switch {
	case b.file != "":
		r.do(step{command: "cat >" + b.file + " <<'END OF FILE'\n" + b.text + "END OF FILE"})
	case b.language == "console":
		for _, s := range steps(r.t, b.text) {
			r.ponder()
			r.do(s)
		}
	case b.language == "crontab":
		r.asCron(b.text)
	case b.language == "text":
	default:
		r.t.Errorf("want a file to which this %s is saved, or console\n%s", b.language, b.text)
	}
}

// asCron runs each line of a crontab as cron does, in the reader's directory and not in the
// reader's ledger, which cron does not know. All of them succeed in silence.
func (r *reader) asCron(text string) {
	r.t.Helper()
	env := []string{"HOME=" + r.cmd.Dir, "LOGNAME=reader", "SHELL=/bin/sh",
		"PATH=" + os.Getenv("PATH")}
	for line := range strings.Lines(strings.ReplaceAll(text, installed, r.bin)) {
		entry := cronEntry.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if entry == nil {
			env = append(env, strings.TrimSuffix(line, "\n"))
			continue
		}

		cmd := exec.Command("/bin/sh", "-c", entry[1])
		cmd.Dir, cmd.Env = r.cmd.Dir, env
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			r.t.Errorf("%s: %v, %q, want silence", line, err, out)
		}
	}
}

func (r *reader) ponder() {
	if pauses() {
		time.Sleep(15 * time.Second)
	}
}

// prompted is a prompt that a page shows, and what a reader types there, which is not printed here.
var prompted = regexp.MustCompile(`(?m)^(.*\[n\] no: )(\w+)\n`)

// do types one command, and what it asks for. It must succeed, and print what the page shows.
func (r *reader) do(s step) {
	r.t.Helper()
	var victim, prompt, reply string
	if asks := prompted.FindStringSubmatch(s.shows); asks != nil {
		prompt, reply = asks[1], asks[2]
		s.shows = strings.Replace(s.shows, prompt+reply+"\n", prompt, 1)
	}
	if kill := kills.FindStringSubmatch(s.command); kill != nil {
		victim, _ = r.answer("echo "+kill[1], "", "")
	}

	got, status := r.answer(s.command, prompt, reply)
	if status != "0" {
		r.t.Errorf("$ %s: exit status %s, want 0, or that the page shows it\n%s", s.command, status,
			got)
	}
	if victim != "" {
		r.gone(strings.TrimSpace(victim))
	}
	if !shown(s.shows).MatchString(blurredPage(got)) {
		r.t.Errorf("$ %s\nthe page shows\n%s\nbut it is\n%s", s.command, s.shows, got)
	}
}

// answer types one command, and the reply to its prompt, if it has one; and returns what it prints
// and its exit status.
func (r *reader) answer(command, prompt, reply string) (text, status string) {
	r.t.Helper()
	from := r.read
	r.enter(r.t, command)
	if prompt != "" {
		r.hear(r.t, prompt)
		r.enter(r.t, reply)
	}
	r.enter(r.t, "echo '"+mark+"'$?'.'")
	r.hear(r.t, mark)
	text = strings.TrimSuffix(r.seen()[from:r.read], mark)
	from = r.read
	r.hear(r.t, ".\n")

	return text, strings.TrimSuffix(r.seen()[from:r.read], ".\n")
}

// gone waits until a killed process has ended, which takes less time than a reader needs for the
// next line.
func (r *reader) gone(number string) {
	r.t.Helper()
	pid, err := strconv.Atoi(number)
	if err != nil {
		r.t.Errorf("kill: %v", err)
		return
	}
	poll.Until(r.t, "the end of "+number, func() bool { return ended(pid) })
}

// leave ends the shell. Nothing may work on, and no temporary file may be left.
func (r *reader) leave() {
	r.t.Helper()
	r.enter(r.t, "exit 0")
	if got := r.end(r.t); got != "0" {
		r.t.Errorf("the shell: got %s, want 0", got)
	}
	if !poll.Within(poll.Patience, func() bool { return r.atWork() == 0 }) {
		r.t.Errorf("%d processes work on, want none", r.atWork())
	}
	if left, err := os.ReadDir(r.tmp); err != nil || len(left) > 0 {
		r.t.Errorf("%v, %v is left in %s, want nothing", err, left, r.tmp)
	}
}

// atWork returns how many processes have a ledger of this reader.
func (r *reader) atWork() (n int) {
	for _, environ := range proc.Environments() {
		if strings.Contains(environ, "\x00DPL_LEDGER="+r.tmp+"/") ||
			strings.Contains(environ, "\x00DPL_LEDGER="+r.ledger+"\x00") {
			n++
		}
	}
	return n
}

// kills is a command that kills a process, and that process.
var kills = regexp.MustCompile(`^kill -(?:9|KILL) ([^;]+)`)
