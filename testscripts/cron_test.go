//go:build unix

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// This file sorts before the other tests, because TestCron begins here and then waits while they
// run.

// shippedCrontab returns the crontab, with the commands in bin.
func shippedCrontab(t *testing.T, bin string) string {
	return strings.ReplaceAll(read(t, "scripts/cron/crontab"), installed, bin)
}

var cronEntry = regexp.MustCompile(`^(?:[0-9*/,-]+ ){5}([^ %][^%]*)$`)

// cronEntries returns the lines of the crontab that run something. It fails at a line that cron
// would not understand.
func cronEntries(t *testing.T) (lines []string) {
	for line := range strings.Lines(shippedCrontab(t, installed)) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "", strings.HasPrefix(line,
			"#"), regexp.MustCompile(`^[A-Z]+=\S+$`).MatchString(line):
		case cronEntry.MatchString(line):
			lines = append(lines, line)
		default:
			t.Errorf("no line of a crontab: %s", line)
		}
	}

	if len(lines) != 2 {
		t.Fatalf("lines of the crontab: %q, want two", lines)
	}
	return lines
}

// TestCrontabLines runs each command of the crontab as cron does. They succeed in silence.
func TestCrontabLines(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t)}
	path := "PATH='" + setting(t, shippedCrontab(t, k.bin), "PATH") + "'; "
	for _, line := range cronEntries(t) {
		k.silent(t, "sh", "-c", path+cronEntry.FindStringSubmatch(line)[1])
	}
}

// cronScript runs in a mount namespace of its own: it installs the crontab $1 for root, without
// effect outside, and executes cron, with no other table.
const cronScript = `set -e
mount -t tmpfs -o mode=755 dpl-cron /run
mount -t tmpfs -o mode=700 dpl-cron /var/spool/cron/crontabs
mount -t tmpfs dpl-cron /etc/cron.d
mount --bind /dev/null /etc/crontab
crontab "$1"
exec cron -f`

// A service that records its starts, and sends heartbeats.
const cronSupervisor = `#!/bin/sh
echo $$ $DPL_REASON >>"$1"
dpl-heartbeat --pid $$ --every 1s --while-pid $$ &
exec sleep 1000
`

// TestCron runs the crontab under a real cron, which makes a pass when the next minute begins.
func TestCron(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("-short")
	case os.Geteuid() != 0:
		strict.Root(t)
	case exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "dpl-cron",
		os.TempDir()).Run() != nil:
		t.Skip("needs the right to mount a file system in a namespace of its own")
	}

	cron := strict.Program(t, "cron")
	c := &cronJob{k: &kitchen{t: t, bin: built(t)}, dir: t.TempDir()}
	c.begin(t, cron)
	begun := time.Now()
	t.Parallel()

	if !poll.Within(time.Minute+poll.Patience, func() bool { // cron looks once a minute
		return c.text("starts") != "" && c.text("ends") != ""
	}) {
		t.Fatalf("cron has started nothing; it said %q", c.text("cron"))
	}

	c.command(t, "dpl-status", "--group", "main", "--supervisor", "a", "--check", "running")
	starts := c.text("starts")
	pid, reason, _ := strings.Cut(strings.TrimSuffix(starts, "\n"), " ")
	if n, err := strconv.Atoi(pid); err != nil || reason != "registered" ||
		syscall.Kill(n, 0) != nil {
		t.Errorf("starts: %q, want one, because it is registered, that has outlived its pass",
			starts)
	}
	if said := c.text("said"); said != "" {
		t.Errorf("cron would mail %q", said)
	}
	if ends := c.text("ends"); !regexp.MustCompile(`^(0 -c dpl-\S+ .*\n)+$`).MatchString(ends) {
		t.Errorf("jobs have ended: %q, want each with status 0", ends)
	}

	t.Logf("after %v: %d jobs", time.Since(begun).Round(time.Second),
		strings.Count(c.text("ends"), "\n"))
}

// cronJob is a crontab under a cron.
type cronJob struct {
	k   *kitchen
	dir string
}

func (c *cronJob) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cronJob) text(name string) string {
	text, _ := os.ReadFile(c.path(name))
	return string(text)
}

func (c *cronJob) command(t *testing.T, name string, args ...string) {
	t.Helper()
	c.k.command(t, c.dir, name, args...)
}

// begin registers a supervisor, and starts a cron, which the end of the test ends.
func (c *cronJob) begin(t *testing.T, cron string) {
	write(t, c.path("supervisor"), cronSupervisor, 0o755)
	c.command(t, "dpl-register", "--group", "main", "--supervisor", "a", "--request", "--no-pass",
		"--", c.path("supervisor"), c.path("starts"))

	// Mail would come too late or not at all. Instead, a shell records the output of a job and its
	// exit status.
	write(t, c.path("shell"),
		"#!/bin/sh\nsh \"$@\" >>"+c.path("said")+" 2>&1\necho \"$? $*\" >>"+c.path("ends")+"\n", 0o755)
	write(t, c.path("crontab"),
		"SHELL="+c.path("shell")+"\nDPL_LEDGER="+c.path("ledger")+"\n"+shippedCrontab(t,
			c.k.bin), 0o644)
	log, err := os.Create(c.path("cron"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", cronScript,
		"sh", c.path("crontab"))
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Dir(cron)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		c.command(t, "dpl-shutdown", "--group", "main", "--supervisor", "a", "--wait")
	})
}
