//go:build linux

package faults

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// The state before a subject begins, and the expected state in the end.

// resources makes what a call of pushOwned may leave behind.
func resources(t *testing.T, w *world) {
	dir := filepath.Join(w.base, "res", "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}

	tmp, err := filepath.Glob(w.file("tmp/o/*~main"))
	if err != nil || len(tmp) != 1 {
		t.Fatalf("temporary directories of main: %q, %v", tmp, err)
	}
	for _, path := range []string{filepath.Join(w.base, "res", "file"),
		filepath.Join(dir, "inside"), filepath.Join(tmp[0], "inside")} {
		if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// owned says which of the resources of pushOwned are left.
func owned(w *world) string {
	left, _ := filepath.Glob(filepath.Join(w.base, "res", "*"))
	return fmt.Sprint(len(left))
}

// publishedIfCompleted says whether the file of publication is whole, and new if call c of the
// operation o has ended well.
func publishedIfCompleted(w *world) string {
	text, err := os.ReadFile(filepath.Join(w.base, "res", "out"))
	if err != nil {
		return err.Error()
	}
	op, err := os.ReadFile(w.file("operations/o.json"))
	if err != nil {
		return err.Error()
	}

	return string(text) + fmt.Sprint(strings.Contains(string(op), `"status": 0`))
}

// strike kills supervisor a, and waits until its keeper has recorded the end.
func strike(t *testing.T, w *world) {
	for _, pid := range w.running("a") {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	poll.Until(t, "the end of the killed service", func() bool { return len(w.running("a")) == 0 })
	poll.Until(t, "the record of the end", func() bool {
		reserved, _ := filepath.Glob(w.file("exits/*/*.tmp"))
		return reserved == nil
	})
}

// running returns the living processes of a supervisor that a pass has started.
func (w *world) running(supervisor string) []int {
	var pids []int
	for pid, environ := range proc.Below(w.base) {
		if _, alive := proc.StartTicks(pid); alive &&
			strings.Contains(environ, "\x00DPL_SUPERVISOR="+supervisor+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// oneRuns says that supervisor a runs, once, and is known.
func oneRuns(w *world) string {
	data, err := os.ReadFile(w.file("g.supervisors.json"))
	pids := w.running("a")
	switch {
	case err != nil:
		return err.Error()
	case len(pids) != 1 || !strings.Contains(string(data), `"pid": `+strconv.Itoa(pids[0])+","):
		return fmt.Sprintf("processes %v run as a, and the registry says\n%s", pids, data)
	case strings.Contains(string(data), `"pendingAlerts"`):
		return "alerts are pending:\n" + string(data)
	}

	return ""
}

// noneRuns checks that no service runs, and that the group says so.
func noneRuns(w *world) string {
	data, err := os.ReadFile(w.file("g.supervisors.json"))
	switch pids := w.running("a"); {
	case err != nil:
		return err.Error()
	case len(pids) > 0 && strings.Contains(string(data), `"state": "stopped"`):
		return fmt.Sprintf("a is stopped, it says, and processes %v run", pids)
	}
	return ""
}

// nobodyWorks says that no process of the ledger is left.
func nobodyWorks(w *world) string {
	if left := w.working(); len(left) > 0 {
		return fmt.Sprintf("processes %v are left", left)
	}
	return ""
}

// servicesFile writes res/services.json, which changes one service and adds another.
func servicesFile(t *testing.T, w *world) {
	const services = `{"supervisors": {"a": {"startInfo": {"command": "sleep", "args": ["400"]}},
		"c": {"dependencies": ["a"], "startInfo": {"command": "sleep", "args": ["300"]}}}}`
	path := filepath.Join(w.base, "res", "services.json")
	if err := os.WriteFile(path, []byte(services), 0o600); err != nil {
		t.Fatal(err)
	}
}

// plants are what killed commands have left, with a slash behind directories.
var plants = []string{
	"operations/ghost.json.lock", "operations/o.json.tmp~0123456789abcdef",
	"tmp/.dpl-trash-0123456789abcdef",
	"tmp/gone/", "g.supervisors.json.tmp~0123456789abcdef",
}

// plant makes what dpl-doctor --fix removes, long ago, and a directory that others may write to.
func plant(t *testing.T, w *world) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}

	must(os.MkdirAll(w.file("tmp"), 0o700))
	long := time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range plants {
		if strings.HasSuffix(name, "/") {
			must(os.Mkdir(w.file(name), 0o700))
		} else {
			must(os.WriteFile(w.file(name), nil, 0o600))
		}
		must(os.Chtimes(w.file(name), long, long))
	}

	must(os.Chmod(w.file("operations"), 0o777))
}

// planted describes which of the planted files are left.
func planted(w *world) string {
	var there []string
	for _, name := range plants {
		if _, err := os.Lstat(w.file(name)); err == nil {
			there = append(there, name)
		}
	}

	info, err := os.Stat(w.file("operations"))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Mode(), there)
}

// logLines is more than a log of noisy may have.
const logLines = 20_000

// logText is what is in the logs of a, whatever was rotated how often.
func logText() []byte {
	var text []byte
	for i := range logLines {
		text = fmt.Appendf(text, "line %d\n", i)
	}
	return text
}

// fillLog makes a log that is too large.
func fillLog(t *testing.T, w *world) {
	if err := os.MkdirAll(w.file("logs/g"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.file("logs/g/a.log"), logText(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fillLogs makes a log that is too large, with an older file.
func fillLogs(t *testing.T, w *world) {
	fillLog(t, w)
	text := logText()
	older := bytes.LastIndexByte(text[:100], '\n') + 1
	for name, part := range map[string][]byte{"a.log.1": text[:older], "a.log": text[older:]} {
		if err := os.WriteFile(w.file("logs/g/"+name), part, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// readLog returns what is in a log, or in one that was rotated and perhaps compressed.
func readLog(name string) []byte {
	text, _ := os.ReadFile(name)
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil && strings.HasSuffix(name, ".gz") {
		text, _ = io.ReadAll(zip)
	}
	return text
}

// logs says which files are in logs/g, and what they hold.
func logs(w *world) string {
	var all []string
	names, _ := filepath.Glob(w.file("logs/g/*"))
	for _, name := range names {
		text := readLog(name)
		all = append(all, fmt.Sprintf("%s: %d bytes, %.4x", filepath.Base(name), len(text),
			sha256.Sum256(text)))
	}
	return randomName.ReplaceAllString(strings.Join(all, "; "), "$1*")
}

// nothingLost checks that the files of a log together have what was written, and that there are no
// others.
func nothingLost(w *world) string {
	text := readLog(w.file("logs/g/a.log.2"))
	if len(text) == 0 { // otherwise, its compressed copy does not count
		text = readLog(w.file("logs/g/a.log.2.gz"))
	}
	for _, name := range []string{"a.log.1", "a.log"} {
		text = append(text, readLog(w.file("logs/g/"+name))...)
	}

	if string(text) != string(logText()) {
		return "the log has lost something, or has it twice: " + logs(w)
	}

	left, _ := filepath.Glob(w.file("logs/g/*.next*"))
	if len(left) > 0 {
		return fmt.Sprintf("%q are left", left)
	}
	return ""
}
