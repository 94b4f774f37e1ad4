//go:build unix

package testscripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// installed is where the units and the crontab have the commands.
const installed = "/usr/local/bin"

var managers = []string{"system", "user"}

// TestUnits makes systemd check the units of scripts/systemd, with instances of templates, and with
// commands that exist.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze := strict.Program(t, "systemd-analyze")
	bin := built(t)

	for _, manager := range managers {
		t.Run(manager, func(t *testing.T) {
			u := instantiate(t, manager, bin)
			if out, err := u.verify(t, analyze); err != nil || out != "" {
				t.Errorf("%v\n%s", err, out)
			}

			u.replace(t, "dpl-orchestrate@g.service", "#ExecStartPost", "ExecStartPost")
			u.replace(t, "dpl-orchestrate@g.service", "#ExecStartPost", "ExecStartPost")
			if out, err := u.verify(t, analyze); err != nil || out != "" {
				t.Errorf("with a page and metrics: %v\n%s", err, out)
			}

			for _, bad := range []struct{ unit, old, new string }{
				{"dpl-cleanup.service", "[Service]\n", "[Service]\nKillmode=none\n"},
				{"dpl-cleanup.service", bin + "/dpl-cleanup ", bin + "/dpl-clean "},
				{"dpl-orchestrate@g.timer", "OnUnitActiveSec=10s", "OnUnitActiveSec=often"},
			} {
				u := instantiate(t, manager, bin)
				u.replace(t, bad.unit, bad.old, bad.new)
				if out, err := u.verify(t, analyze); !isExit(err) ||
					!strings.Contains(out, bad.unit) {
					t.Errorf("%q instead of %q in %s: %v, want an exit status and its name\n%s",
						bad.new, bad.old, bad.unit, err, out)
				}
			}
		})
	}
}

// units is a directory of units that a manager could load.
type units struct{ manager, dir string }

func instantiate(t *testing.T, manager, bin string) units {
	u := units{manager, t.TempDir()}
	for name, text := range shipped(t, manager) {
		write(t, u.path(strings.Replace(name, "@.", "@g.", 1)),
			strings.ReplaceAll(text, installed, bin), 0o644)
	}
	return u
}

func (u units) path(name string) string { return filepath.Join(u.dir, name) }

func (u units) replace(t *testing.T, name, old, new string) {
	text, err := os.ReadFile(u.path(name))
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q: %v", name, old, err)
	}
	write(t, u.path(name), strings.Replace(string(text), old, new, 1), 0o644)
}

func (u units) verify(t *testing.T, analyze string) (string, error) {
	paths, err := filepath.Glob(u.path("*"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze,
		append([]string{"verify", "--" + u.manager, "--man=no", "--recursive-errors=yes"},
			paths...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// shipped returns the units of a manager, by name.
func shipped(t *testing.T, manager string) map[string]string {
	paths, err := filepath.Glob(filepath.Join(root, "scripts/systemd", manager, "*"))
	if err != nil {
		t.Fatal(err)
	}

	all := make(map[string]string)
	for _, path := range paths {
		all[filepath.Base(path)] = read(t, strings.TrimPrefix(path, root))
	}

	for _, name := range []string{"dpl-orchestrate@.service", "dpl-orchestrate@.timer",
		"dpl-cleanup.service", "dpl-cleanup.timer"} {
		if all[name] == "" {
			t.Fatalf("%s has no %s", manager, name)
		}
	}

	return all
}

// TestExecStart runs the commands of the units without a ledger, and with a group. Both must
// succeed silently.
func TestExecStart(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t)}
	for _, manager := range managers {
		for name, text := range shipped(t, manager) {
			if !strings.HasSuffix(name, ".service") {
				continue
			}
			t.Run(manager+"/"+name, func(t *testing.T) {
				args := strings.Fields(strings.ReplaceAll(setting(t, text, "ExecStart"), "%i",
					"main"))
				k.silent(t, filepath.Join(k.bin, strings.TrimPrefix(args[0], installed)),
					args[1:]...)
			})
		}
	}
}

var (
	cronPage = regexp.MustCompile(`(?m)^#(?:[0-9*/]+ ){5}(dpl-orchestrate .*--html .*)$`)
	unitPage = regexp.MustCompile(`(?m)^#?ExecStart(?:Post)?=-?(.*(?:dpl-orchestrate|dpl-status) .*)$`)
)

// TestPageAfterPass runs the lines that the crontab and the units have in comments, for those who
// want a page and metrics. These show what the pass in the same line or unit has done.
func TestPageAfterPass(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t)}
	files := map[string]string{"crontab": read(t, "scripts/cron/crontab")}
	for _, manager := range managers {
		files[manager] = shipped(t, manager)["dpl-orchestrate@.service"]
	}

	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			line, want := unitPage, 3
			if name == "crontab" {
				line, want = cronPage, 1
			}
			lines := line.FindAllStringSubmatch(text, -1)
			if len(lines) != want {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), want, text)
			}

			k.command(t, dir, "dpl-register", "--group", "main", "--service", "s", "--request",
				"--no-pass", "--", "sleep", "600")
			for _, found := range lines {
				command := strings.NewReplacer("%i", "main", "%h", dir, installed, k.bin,
					"/srv/www", dir, "/var/lib/node_exporter", dir).Replace(found[1])
				k.command(t, dir, "sh", "-c", "PATH="+k.bin+":$PATH; "+command)
			}
			k.command(t, dir, "dpl-shutdown", "--group", "main", "--all", "--wait")

			const up = "\ndpl_service_up{group=\"main\",service=\"s\"} 1\n"
			metrics, err := os.ReadFile(filepath.Join(dir, "dpl.prom"))
			if err != nil || !strings.Contains(string(metrics), up) {
				t.Errorf("want %q in\n%s: %v", up, metrics, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "dpl.html")); err != nil {
				t.Error(err)
			}
		})
	}
}

var onFailureLine = regexp.MustCompile(`(?m)^#(?:[0-9*/]+(?: [0-9*/]+){4} |ExecStart=)` +
	`(.*dpl-cleanup .*--on-failure .*)$`)

// TestOnFailureLines runs the line that the crontab and the units have in a comment, for those who
// want a command to be run after each failure.
func TestOnFailureLines(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t)}
	files := map[string]string{"crontab": read(t, "scripts/cron/crontab")}
	for _, manager := range managers {
		files[manager] = shipped(t, manager)["dpl-cleanup.service"]
	}

	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			lines := onFailureLine.FindAllStringSubmatch(text, -1)
			if len(lines) != 1 {
				t.Fatalf("%d lines with --on-failure, want one:\n%s", len(lines), text)
			}
			line := strings.ReplaceAll(lines[0][1], installed, k.bin)
			if name != "crontab" {
				line = strings.ReplaceAll(line, "$$", "$") // as systemd does
			}

			dir := t.TempDir()
			for _, program := range []string{"logger", "mail"} {
				write(t, filepath.Join(dir, program), "#!/bin/sh\necho \"$@\" >>told\n", 0o755)
			}
			k.command(t, dir, "dpl-push", "--op", "nightly", "--call", "main", "--participant", "a")
			k.command(t, dir, "dpl-pop", "--op", "nightly", "--call", "main", "--fail")
			path := "PATH=" + dir + ":" + k.bin + ":" + os.Getenv("PATH")
			status, out := k.execute(t, dir, []string{path}, "sh", "-c", line)
			told, _ := os.ReadFile(filepath.Join(dir, "told"))
			if status != 0 || !strings.HasPrefix(out, "nightly: failed: ") ||
				!strings.Contains(string(told), "nightly failed") {
				t.Errorf("%s: exit status %d, %q, told %q", line, status, out, told)
			}
		})
	}
}

// silent runs a program without a ledger, and in one with a group called main. It must print
// nothing in either.
func (k *kitchen) silent(t *testing.T, name string, args ...string) {
	dir := t.TempDir()
	for _, what := range []string{"without a ledger", "with one", "again"} {
		if status, out := k.execute(t, dir, nil, name, args...); status != 0 || out != "" {
			t.Errorf("%s %s, %s: exit status %d, %q, want 0 and silence", name,
				strings.Join(args, " "), what, status, out)
		}
		k.command(t, dir, "dpl-register", "--group", "main", "--supervisor", "a", "--no-pass")
	}
}

// TestThresholds compares the thresholds of the units and of the crontab with the time between
// passes.
func TestThresholds(t *testing.T) {
	for _, manager := range managers {
		all := shipped(t, manager)
		timer := all["dpl-orchestrate@.timer"]
		period := duration(t, setting(t, timer, "OnUnitActiveSec")) +
			duration(t, setting(t, timer, "AccuracySec"))
		threshold := duration(t, stalenessIn(t,
			setting(t, all["dpl-orchestrate@.service"], "ExecStart")))
		if threshold < period*5/2 {
			t.Errorf("%s: passes every %v with a threshold of %v", manager, period, threshold)
		}
	}

	for _, line := range cronEntries(t) {
		if !strings.Contains(line, "dpl-orchestrate") {
			continue
		}
		const late = 5 * time.Second // cron is, under load: at 2.5 minutes exactly the pass would warn now and then
		if threshold := duration(t, stalenessIn(t, line)); !strings.HasPrefix(line, "* * * * * ") ||
			threshold < (time.Minute+late)*5/2 {
			t.Errorf("%s: a threshold of %v", line, threshold)
		}
	}
}

// setting returns the one value of a key of a unit.
func setting(t *testing.T, unit, key string) string {
	values := regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	if len(values) != 1 {
		t.Fatalf("%s: %d times in\n%s", key, len(values), unit)
	}
	return values[0][1]
}

func stalenessIn(t *testing.T, command string) string {
	words := strings.Fields(command)
	i := slices.Index(words, "--staleness")
	if i < 0 || i+1 == len(words) {
		t.Fatalf("no --staleness: %s", command)
	}
	return words[i+1]
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
