//go:build linux

package faults

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// without are the commands that are no subject of faults, and why.
var without = map[string]string{
	"dpl-check":  "it writes nothing",
	"dpl-status": "it writes nothing",
	"dpl-trace":  "it writes nothing",
	"dpl-watch":  "it writes nothing",
}

// A class is flags that no subject needs to have, for one reason. A flag of one command is written
// COMMAND:FLAG.
type class struct {
	why   string
	flags []string
}

var classes = []class{
	{"says where the ledger is, or whether it is used",
		[]string{"ledger", "trust-owner", "trust-group", "if-exists"}},
	{"says how long to wait, not for what",
		[]string{"lock-timeout", "run:wait", "work:until-done"}},
	{"says what is waited for, which changes no edit of the janitor",
		[]string{"wait:ready", "wait:group", "wait:any", "wait:since", "wait:ended", "wait:pid",
			"wait:call"}},
	{"refuses what it would do, or nothing", []string{"report:start", "run:no-rerun"}},
	{"is two edits: of a subject with --key, and of one with --block", []string{"ask:park"}},
	{"says who asks, as the process of a subject does", []string{"ask:op", "ask:call"}},
	{"leaves out calls that others make", []string{"sync"}},
	{"is the time, which all subjects have from DPL_NOW", []string{"now"}},
	{"repeats what one heartbeat does", []string{"heartbeat:every", "heartbeat:while-pid",
		"heartbeat:signal"}},
	{"asks for a pass that others make, or for none", []string{"orchestrate:after-exit"}},
	{"is of a new ledger, which all commands make as dpl-push does", []string{
		"register:shared", "run:shared", "register:resource-root",
		"enqueue:shared", "queue:shared", "enqueue:resource-root", "queue:resource-root",
		"ask:shared", "ask:resource-root",
	}},
	{"says what is printed, or that nothing is written",
		[]string{"json", "verbose", "version", "help", "dry-run", "register:explain", "ask:explain-rules",
			"push:sh", "doctor:quiet", "cleanup:quiet", "run:status-fd", "serve:status-fd",
			"work:status-fd", "claim:sh", "claim:mine",
			"claim:check", "claim:epoch", "answer:follow", "answer:ids", "audit:since", "audit:until", "audit:kind",
			"audit:last", "audit:full", "audit:verify", "audit:known", "audit:signers", "audit:head", "audit:at"}},
	{"deletes whole files that no edit reads", []string{"cleanup:keep-record"}},
	{"asks another program, before or after the edit", []string{"ask:signers", "ask:fresh", "answer:sign"}},
}

// done returns what subjects and families do, which is what faults hit.
func done() (steps []step) {
	for _, s := range subjects() {
		steps = append(steps, s.do)
	}

	for _, f := range families() {
		steps = append(steps, f.do)
	}

	for _, s := range steps {
		if i := slices.Index(s.argv, "--"); i >= 0 && strings.HasPrefix(s.argv[i+1], "dpl-") {
			steps = append(steps, step{argv: s.argv[i+1:]})
		}
	}

	return steps
}

// Each command is a subject, or it is said why not.
func TestCommandsAreSubjects(t *testing.T) {
	mains, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatal(mains, err)
	}

	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		tried := slices.ContainsFunc(done(), func(s step) bool { return s.argv[0] == name })
		if _, excused := without[name]; tried == excused {
			t.Errorf("%s: a subject: %v, excused: %v", name, tried, excused)
		}
	}

	for name := range without {
		if _, err := os.Stat(filepath.Join(root, "cmd", name)); err != nil {
			t.Errorf("%s is excused and does not exist", name)
		}
	}
}

// Each flag of these commands is one of a subject, or of a class that is excused.
func TestFlagsAreSubjects(t *testing.T) {
	bin := plain(t)
	tried := make(map[string]bool)
	for _, s := range done() {
		for _, word := range s.argv[1:] {
			if word == "--" {
				break
			}
			if flag, ok := strings.CutPrefix(word, "--"); ok {
				tried[strings.TrimPrefix(s.argv[0], "dpl-")+":"+flag] = true
			}
		}
	}

	for _, mode := range modes {
		for _, flag := range mode.flags {
			for _, name := range makers {
				tried[strings.TrimPrefix(name, "dpl-")+":"+strings.TrimPrefix(flag, "--")] = true
			}
		}
	}

	excused := make(map[string]bool) // by the flag as a class has it: whether one was excused by it
	for _, c := range classes {
		for _, flag := range c.flags {
			excused[flag] = false
		}
	}

	mains, _ := filepath.Glob(filepath.Join(bin, "dpl-*"))
	for _, main := range mains {
		name := strings.TrimPrefix(filepath.Base(main), "dpl-")
		if _, ok := without["dpl-"+name]; ok {
			continue
		}

		for _, flag := range flagsOf(t, main) {
			known := flag
			if _, own := excused[name+":"+flag]; own {
				known = name + ":" + flag
			}

			_, ok := excused[known]
			switch {
			case ok && tried[name+":"+flag] && known != flag:
				t.Errorf("dpl-%s --%s is excused, and a subject has it", name, flag)
			case ok:
				excused[known] = true
			case !tried[name+":"+flag]:
				t.Errorf("dpl-%s --%s: no subject has it, and no class excuses it", name, flag)
			}
		}
	}

	for flag, used := range excused {
		if !used {
			t.Errorf("%s is excused, and there is no such flag", flag)
		}
	}
}

// flagsOf returns the flags of a command, as it tells programs.
func flagsOf(t *testing.T, command string) (flags []string) {
	t.Helper()
	out, err := exec.Command(command, "--help", "--json").Output()
	var model struct{ Flags []struct{ Name string } }
	if err == nil {
		err = json.Unmarshal(out, &model)
	}
	if err != nil || len(model.Flags) == 0 {
		t.Fatalf("%s --help --json: %v: %s", command, err, out)
	}

	for _, f := range model.Flags {
		flags = append(flags, f.Name)
	}
	return flags
}
