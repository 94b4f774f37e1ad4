//go:build unix

package testscripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// TestServices pastes the blocks of spec/services.md, in order, into one shell, and shows the
// services after each. It leaves out lines that need a service manager, but checks that
// what they name exists, and runs the command of the unit instead of the timer.
func TestServices(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs to know processes")
	}

	w := &walk{t: t, kitchen: kitchen{t: t, bin: built(t)}, dir: t.TempDir(),
		text: read(t, "spec/services.md")}
	t.Cleanup(func() { proc.EndAll(w.dir) })
	said := w.paste()
	table := fenced(t, w.text, "text")
	if got, want := blurred(said[0]), blurred(table); got != want {
		t.Errorf("the page shows\n%s\nbut it is\n%s", want, got)
	}
	if !strings.Contains(said[2], `"type":"supervisorRestarted","supervisorId":"db"`) ||
		strings.Count(said[2], "\n") != 1 {
		t.Errorf("%q, want the alert that db was restarted", said[2])
	}

	states := regexp.MustCompile(`(?m)^\W*(db|web) +(\w+)`)
	for i, want := range []string{"running running", "stopped stopped", "registered registered"} {
		var got []string
		for _, s := range states.FindAllStringSubmatch(said[2*i+1], -1) {
			got = append(got, s[2])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("db and web are %v after block %d, want %s\n%s", got, i+1, want, said[2*i+1])
		}
	}

	w.timer()
	w.stays()
}

// ofManager are lines for a service manager, which the tests have not.
var ofManager = regexp.MustCompile(`(?m)^(systemctl --user|loginctl) .*\n`)

// walk is a reader of the page, whose home is dir.
type walk struct {
	kitchen
	t    *testing.T
	dir  string
	text string
}

// paste runs the blocks, and returns in turn the output of a block and the table of services after
// it.
func (w *walk) paste() []string {
	scripts, err := filepath.Abs(filepath.Join(root, "scripts"))
	if err == nil {
		err = os.Symlink(scripts, filepath.Join(w.dir, "scripts"))
	}
	if err != nil {
		w.t.Fatal(err)
	}

	const cut = "8<---\n"
	script := "set -eu\n"
	for _, block := range blocks(w.text, "sh") {
		script += ofManager.ReplaceAllString(block, "") +
			"echo '8<---'\ndpl-status --group shop\necho '8<---'\n"
	}

	cmd := w.cmd(w.t, w.dir, nil, "sh", "-c", script)
	cmd.Env = []string{"PATH=" + w.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" +
		w.dir, "LC_ALL=C.UTF-8", "COLUMNS=80"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	said := strings.Split(string(out), cut)
	const also = "dpl-shutdown: shop: also stops web, which depends on db\n" // "stop both", as the page says
	if err != nil || stderr.String() != also || len(said) != 7 {
		w.t.Fatalf("%v, %d blocks, want 3\n%s%s", err, len(said)/2, out, stderr.String())
	}

	return said
}

// blurred returns a table of services without what is another one each time.
func blurred(table string) string {
	for _, b := range [][2]string{{`\d\S* ago`, "AGO"}, {`by \S+`, "by OWNER"},
		{`(running|completed) +\d+`, "$1 PID"}, {` +`, " "}} {
		table = regexp.MustCompile(b[0]).ReplaceAllString(table, b[1])
	}
	return table
}

// timer does what the timer does that the page enables.
func (w *walk) timer() {
	enabled := regexp.MustCompile(`systemctl --user enable --now (.*@)shop\.timer\n`).FindStringSubmatch(w.text)
	if enabled == nil {
		w.t.Fatal("spec/services.md: want a line that enables the timer of shop")
	}

	setting := func(suffix, name string) string {
		text, err := os.ReadFile(filepath.Join(w.dir, ".config/systemd/user", enabled[1]+suffix))
		found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindSubmatch(text)
		if err != nil || found == nil {
			w.t.Fatalf("%v, want %s= in %s", err, name, text)
		}
		return string(found[1])
	}

	period, err := time.ParseDuration(setting(".timer", "OnUnitActiveSec"))
	if err != nil || !strings.Contains(w.text,
		fmt.Sprintf("a pass every %.0f seconds", period.Seconds())) {
		w.t.Errorf("the timer makes a pass every %v, %v; the page says something else", period, err)
	}

	command := strings.ReplaceAll(setting(".service", "ExecStart"), "%i", "shop")
	w.until("db and web run", func(g group.Group) bool {
		db, web := g.Service("db"), g.Service("web")
		if db.State == group.StateRunning && web.State == group.StateRunning {
			return true
		}
		w.installed(w.t, w.dir, command)
		return false
	})

	w.patient(period)
}

// patient checks that the group's threshold suits the time between passes.
func (w *walk) patient(period time.Duration) {
	w.until("the threshold is 2.5 periods or more", func(g group.Group) bool {
		return g.Orchestrator.StalenessThreshold >= period*5/2
	})
}

// stays runs the orchestrator with --every, kills db, and ends the orchestrator once db is back.
func (w *walk) stays() {
	line := regexp.MustCompile("`(dpl-orchestrate --every [^`]+)`").FindStringSubmatch(w.text)
	if line == nil {
		w.t.Fatal("spec/services.md: want dpl-orchestrate --every")
	}

	cmd := w.cmd(w.t, w.dir, nil, "sh", "-c", "exec "+line[1])
	cmd.Env = []string{"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + w.dir, "DPL_GROUP=shop"}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}

	var db, web int
	w.until("it has made a pass", func(g group.Group) bool {
		db, web = g.Service("db").PID, g.Service("web").PID
		return g.Orchestrator.PID == cmd.Process.Pid
	})

	syscall.Kill(db, syscall.SIGKILL)
	w.until("db is restarted", func(g group.Group) bool {
		s := g.Service("db")
		return s.State == group.StateRunning && s.PID != db
	})

	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || out.Len() > 0 {
		w.t.Errorf("%s: %v, %q", line[1], err, out.String())
	}
	if _, alive := proc.StartTicks(web); !alive {
		w.t.Error("web has ended, too")
	}
}

// until polls the group.
func (w *walk) until(what string, holds func(g group.Group) bool) {
	w.t.Helper()
	ledger, err := fileops.Open(filepath.Join(w.dir, ".local/state/dpl"), fileops.Options{})
	if err != nil {
		w.t.Fatal(err)
	}

	var g group.Group
	if !poll.Within(poll.Patience, func() bool {
		if g, err = ledger.ReadGroup("shop"); err != nil {
			w.t.Fatal(err)
		}
		return holds(g)
	}) {
		w.t.Fatalf("not so in time: %s\n%s", what, g.Registry.Encode())
	}
}
