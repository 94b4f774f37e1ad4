//go:build linux

package testscripts

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestKept reads ledgers of earlier versions, in spec/vectors/kept, as files are promised to stay
// readable (spec/compatibility.md). What is shown of them may have more members than it had then,
// and no others may be missing or different.
func TestKept(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Glob(filepath.Join(root, "spec/vectors/kept/*/shown.txt"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no ledgers are kept: %v", err)
	}

	bin := built(t)
	for _, shown := range kept {
		version := filepath.Dir(shown)
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			k := keptLedgers{t: t, bin: bin, dir: copyKept(t, version)}
			k.shown(shown)
			k.whole()

			// Nobody in them lives. A cleanup writes everything anew.
			k.run("ledger", "dpl-cleanup")
			k.run("linked", "dpl-cleanup")
			k.whole()
		})
	}
}

// copyKept copies the ledgers of a version, with the modes that ledgers have and git does not keep.
func copyKept(t *testing.T, version string) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(version)); err != nil {
		t.Fatal(err)
	}

	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, 0o700)
		default:
			return os.Chmod(path, 0o600)
		}
	})
	if err != nil {
		t.Fatal(err)
	}

	return dir
}

// keptLedgers are the copies of the ledgers of one version.
type keptLedgers struct {
	t        *testing.T
	bin, dir string
}

// run runs a command on a ledger, a few days after it was made, and returns what it prints.
func (k keptLedgers) run(ledger, name string, args ...string) string {
	k.t.Helper()
	out, err := k.try(ledger, name, args...)
	if err != nil {
		k.t.Error(err)
	}
	return out
}

// try runs a command, and returns what it prints even if it fails.
func (k keptLedgers) try(ledger, name string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(k.bin, name), args...)
	cmd.Env = []string{"PATH=" + k.bin + ":" + os.Getenv("PATH"), "HOME=" + k.dir,
		"DPL_LEDGER=" + filepath.Join(k.dir, ledger), "DPL_NOW=2026-12-01T00:00:00Z", "DPL_REPLAY=1"}
	out, err := cmd.Output()
	if err != nil {
		var why string
		if exit, ok := err.(*exec.ExitError); ok {
			why = string(exit.Stderr)
		}
		err = fmt.Errorf("%s: %s: %w\n%s", ledger, strings.Join(cmd.Args, " "), err, why)
	}
	return strings.ReplaceAll(string(out), k.dir+"/", "/kept/"), err
}

// shown runs the commands in a file, each in a line $ LEDGER: COMMAND, and compares.
func (k keptLedgers) shown(file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		k.t.Fatal(err)
	}

	for _, part := range strings.Split("\n"+string(data), "\n$ ")[1:] {
		line, want, _ := strings.Cut(part, "\n")
		ledger, command, _ := strings.Cut(line, ": ")
		args := strings.Fields(command)
		got := decodeAll(k.t, k.run(ledger, args[0], args[1:]...))
		if place := missing(decodeAll(k.t, want), got, ""); place != "" {
			k.t.Errorf("%s: %s is not what it was", line, place)
		}
	}
}

// decodeAll returns the JSON values in text, with numbers as they are written.
func decodeAll(t *testing.T, text string) (all []any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for decoder.More() {
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		all = append(all, value)
	}
	return all
}

// missing returns the first place where got is not want, or lacks a member of it, or "".
func missing(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return path
		}

		for name, value := range want {
			other, ok := got[name]
			if !ok {
				return path + "/" + name
			}
			if place := missing(value, other, path+"/"+name); place != "" {
				return place
			}
		}
		return ""

	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return path
		}
		for i := range want {
			if place := missing(want[i], got[i], path+"/"+strconv.Itoa(i)); place != "" {
				return place
			}
		}
		return ""
	}

	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s: %v, want %v:", path, got, want)
	}
	return ""
}

// whole checks that doctors find no problem but dead services, and that the records are what was
// recorded.
func (k keptLedgers) whole() {
	k.t.Helper()
	for _, ledger := range []string{"ledger", "linked"} {
		findings, err := k.try(ledger, "dpl-doctor")
		dead := 0
		for line := range strings.Lines(findings) {
			switch {
			case strings.HasPrefix(line, "problem  services "):
				dead++
			case strings.HasPrefix(line, "problem"):
				k.t.Errorf("%s: %s", ledger, line)
			}
		}
		if (err != nil) != (dead > 0) {
			k.t.Errorf("%s: %d dead services: %v", ledger, dead, err)
		}
		for queue := range strings.Lines(k.run(ledger, "dpl-status", "--queues", "--ids")) {
			k.run(ledger, "dpl-audit", "--verify", "--queue="+strings.TrimSpace(queue))
		}
	}
	k.run("ledger", "dpl-audit", "--verify", "--op=recorded")
	k.run("ledger", "dpl-audit", "--verify", "--group=every")
}
