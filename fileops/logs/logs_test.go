package logs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// hookedLedger creates a ledger on which nothing happens before a call until Before is set.
func hookedLedger(t *testing.T) (*fileops.Ledger, *hookfs.FS) {
	t.Helper()
	h := &hookfs.FS{FS: disk.OS{}}
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{},
		fileops.Options{FS: h})
	must(t, err)
	return l, h
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := disk.OS{}.ReadDir(dir)
	must(t, err)
	slices.Sort(names)
	return names
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", filepath.Base(dir), got, want)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A logWriter appends numbered lines to a log that it has opened once, as a service does.
type logWriter struct {
	t    *testing.T
	file *os.File
	text strings.Builder // all that was written
	n    int
}

// rotateLog rotates the log of a service that nobody holds open.
func rotateLog(l *fileops.Ledger, group, id string, limit int64, keep int) (bool, error) {
	return rotateBy(l, group, id, logs.Rule{Limit: limit, Keep: keep})
}

func rotateBy(l *fileops.Ledger, group, id string, rule logs.Rule) (bool, error) {
	log, err := l.ServiceLog(group, id, nil)
	if err != nil {
		return false, err
	}
	return log.Rotate(rule)
}

// readLog reads such a log.
func readLog(l *fileops.Ledger, group, id string, lines int) (*logs.Reader, []byte, error) {
	log, err := l.ServiceLog(group, id, nil)
	if err != nil {
		return nil, nil, err
	}
	return log.Read(lines)
}

func newLogWriter(t *testing.T, l *fileops.Ledger, id string) *logWriter {
	t.Helper()
	path, _, err := l.LogFile("g", id)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return &logWriter{t: t, file: f}
}

func (w *logWriter) write(lines int) {
	var text []byte
	for range lines {
		w.n++
		text = fmt.Appendf(text, "line %d\n", w.n)
	}
	_, err := w.file.Write(text)
	must(w.t, err)
	w.text.Write(text)
}

// logText returns what is in the log of s and the files before it, oldest first.
func logText(t *testing.T, l *fileops.Ledger) (text string) {
	t.Helper()
	path := l.LogPath("g", "s")
	for n := range 10 {
		if n == 0 {
			text = readText(t, path)
			continue
		}
		text = readText(t, layout.RotatedLogOf(path, n)) + text
		text = unzip(t, layout.CompressedLogOf(path, n)) + text
	}

	return text
}

// readText returns what is in a file; "" if there is none.
func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
	return string(data)
}

// mostText is the most that is read of a log at once.
const mostText = 16 << 20

func TestExcess(t *testing.T) {
	t.Parallel()
	const limit, unit = logs.LeastLimit, disk.CutUnit
	for _, c := range []struct{ size, limit, want int64 }{
		{0, limit, 0}, {limit, limit, 0}, {limit + unit - 1, limit, 0}, {limit + unit, limit, unit},
		{10*limit + 5, limit, 9 * limit}, {10 * limit, 0, 0},
	} {
		from, to := logs.Excess(c.size, c.limit)
		if from != logs.KeptHead || to-from != c.want {
			t.Errorf("%d, limit %d: got %d to %d, want %d bytes", c.size, c.limit, from, to, c.want)
		}
	}
}

const logLimit = 3 * disk.CutUnit / 2

// withoutCut is a file system that cannot cut off the front of a file.
func withoutCut(call, _ string) error {
	if call == "cut" {
		return errors.ErrUnsupported
	}
	return nil
}

// A way is one in which a log is rotated.
type way struct {
	before   func(call, path string) error
	compress bool
}

func ways() map[string]way {
	return map[string]way{"cut": {nil, false}, "truncated": {withoutCut, false},
		"cut and compressed": {nil, true}, "truncated and compressed": {withoutCut, true}}
}

func TestRotateLog(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(call, path string) error{"cut": nil,
		"truncated": withoutCut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, h := hookedLedger(t)
			h.Before = before
			dir := l.GroupLogs("g")
			if done, err := rotateLog(l, "g", "s", logLimit, 3); done || err != nil {
				t.Errorf("got %v, %v without a log", done, err)
			}

			w := newLogWriter(t, l, "s")
			w.write(10)
			if done, err := rotateLog(l, "g", "s", logLimit, 3); done || err != nil {
				t.Errorf("got %v, %v of a small log", done, err)
			}

			for range 3 {
				w.write(15_000)
				if done, err := rotateLog(l, "g", "s", logLimit, 3); !done || err != nil {
					t.Errorf("got %v, %v of a large log", done, err)
				}
			}

			if got := logText(t, l); got != w.text.String() {
				t.Errorf("got %d bytes, want the %d that were written", len(got), w.text.Len())
			}

			wantNames(t, dir, "s.log", "s.log.1", "s.log.2", "s.log.3")

			w.write(15_000)
			if done, err := rotateLog(l, "g", "s", logLimit, 1); !done || err != nil {
				t.Errorf("got %v, %v", done, err)
			}

			wantNames(t, dir, "s.log", "s.log.1")
			if info, err := os.Stat(l.LogPath("g", "s")); err != nil ||
				info.Size() > disk.CutUnit || info.Mode() != 0o600 {
				t.Errorf("got %v, %v", info, err)
			}
			if got := logText(t, l); !strings.HasSuffix(w.text.String(), got) {
				t.Errorf("got %d bytes that are not the end of what was written", len(got))
			}
		})
	}
}

// A log is rotated when it is due, however small it is, but not without content.
func TestRotateLogDue(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	w := newLogWriter(t, l, "s")
	log, err := l.ServiceLog("g", "s", nil)
	must(t, err)

	for _, step := range []struct {
		lines   int
		rotates bool
		files   []string
	}{
		{0, false, []string{"s.log"}},
		{1, true, []string{"s.log", "s.log.1"}},
		{0, false, []string{"s.log", "s.log.1"}},
		{15_000, true, []string{"s.log", "s.log.1", "s.log.2"}},
	} {
		w.write(step.lines)
		done, err := log.Rotate(logs.Rule{Due: true, Keep: 2})
		if done != step.rotates || err != nil {
			t.Errorf("after %d lines: got %v, %v", step.lines, done, err)
		}
		if done, err := log.Rotate(logs.Rule{Keep: 2}); done || err != nil {
			t.Errorf("neither due nor limited: got %v, %v", done, err)
		}
		wantNames(t, l.GroupLogs("g"), step.files...)
		if logText(t, l) != w.text.String() {
			t.Errorf("after %d lines: the log is not what was written", step.lines)
		}
	}
}

// needsCut skips a test if the file system, like tmpfs, cannot cut off the front of a file. Then
// output of a service may be lost while its log is truncated.
func needsCut(t *testing.T) {
	t.Helper()
	l, h := hookedLedger(t)
	newLogWriter(t, l, "s").write(15_000)
	h.Before = func(call, _ string) error {
		if call == "truncate" {
			return hookfs.ErrDisk
		}
		return nil
	}

	if _, err := rotateLog(l, "g", "s", logLimit, 3); errors.Is(err, hookfs.ErrDisk) {
		t.Skip("the file system of temporary files cannot cut off the front of a file")
	}
}

// A pass killed before any of its system calls, while the service keeps writing, loses and
// duplicates nothing. The next rotation completes what it has begun.
func TestRotateLogKilled(t *testing.T) {
	t.Parallel()
	for name, c := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := c.before
			if before == nil {
				needsCut(t)
			}

			rule := logs.Rule{Limit: logLimit, Keep: 5, Compress: c.compress}
			small := rule // for a log that has become small
			small.Limit = 1 << 40

			for at, killed := 1, true; killed; at++ {
				l, h := hookedLedger(t)
				w := newLogWriter(t, l, "s")
				w.write(5)
				path := l.LogPath("g", "s")
				writeFile(t, layout.RotatedLogOf(path, 2), "oldest\n")
				writeFile(t, layout.RotatedLogOf(path, 1), "older\n")
				wantAll := func() {
					t.Helper()
					_, text, err := readLog(l, "g", "s", 1_000_000)
					must(t, err)
					if want := "oldest\nolder\n" + w.text.String(); string(text) != want {
						t.Fatalf("call %d: then %d bytes are read, want %d", at, len(text), len(want))
					}
				}

				w.write(15_000)
				calls := 0
				h.Before = func(call, path string) error {
					if calls++; calls >= at {
						return hookfs.ErrDisk
					}

					// what is written at that moment is lost
					if before == nil || call != "truncate" && call != "write" {
						w.write(1)
					}
					if before != nil {
						return before(call, path)
					}
					return nil
				}

				_, err := rotateBy(l, "g", "s", rule)
				if killed = calls >= at; killed && err == nil && len(l.Leftovers()) == 0 {
					t.Errorf("call %d: it was killed, and says nothing", at)
				}

				h.Before = before
				if !exists(layout.NextLogOf(path)) {
					wantAll()
				}
				if at%2 == 0 { // the next pass ends it, also if the log has become small
					if done, err := rotateBy(l, "g", "s", small); done || err != nil {
						t.Fatalf("call %d: then got %v, %v", at, done, err)
					}
					wantAll()
				}

				w.write(15_000)
				if at%3 == 0 { // the next pass is killed as well, while it ends the rotation of the first
					calls := 0
					h.Before = func(call, path string) error {
						if calls++; calls > at/3 {
							return hookfs.ErrDisk
						}
						return nil
					}

					rotateBy(l, "g", "s", rule)
					h.Before = before
				}

				w.write(15_000)
				done, err := rotateBy(l, "g", "s", rule)
				if !done || err != nil {
					t.Fatalf("call %d: then got %v, %v", at, done, err)
				}
				wantAll()

				if got := logText(t, l); got != "oldest\nolder\n"+w.text.String() {
					t.Fatalf("call %d: %d bytes are in the files", at, len(got))
				}

				for _, name := range namesIn(t, l.GroupLogs("g")) {
					plain := name == "s.log" || name == "s.log.1"
					if strings.Contains(name, "next") || strings.Contains(name, "tmp") ||
						c.compress && strings.HasSuffix(name, ".gz") == plain {
						t.Errorf("call %d: %s is left", at, name)
					}
				}

				if at > 100 {
					t.Fatal("it makes too many calls")
				}
			}
		})
	}
}

// A pass that cannot compare the log with what a dead pass has copied leaves both.
func TestRotateLogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for call, suffix := range map[string]string{"open": "s.log.next", "read at": "s.log"} {
		l, h := hookedLedger(t)
		w := newLogWriter(t, l, "s")
		w.write(15_000)
		next := layout.NextLogOf(l.LogPath("g", "s"))
		writeFile(t, next, "line 1\n")
		h.Before = hookfs.Nth(t, 1, call, suffix, hookfs.Broken)
		if done, err := rotateLog(l, "g", "s", logLimit, 3); done || !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: got %v, %v", call, done, err)
		}
		wantNames(t, l.GroupLogs("g"), "s.log", "s.log.next")
	}
}

// A killed rotation leaves one number free. The files behind it are read, and the next rotation
// moves none of them.
func TestReadLogWithGap(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	fill(t, l, map[string]string{"1": "c\n", "3": "b\n", "4": "a\n", "7": "too far away\n"})
	w := newLogWriter(t, l, "s")
	w.write(1)
	for range 2 {
		wantLines(t, l, "a\nb\nc\nline 1\n")
		_, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: 9})
		must(t, err)
	}
	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2", "s.log.3", "s.log.4", "s.log.7")
}

// The number of kept files comes from a file, which anyone may have written. A pass neither counts
// up to it nor overflows with it.
func TestRotateLogKeepsAll(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	w := newLogWriter(t, l, "s")
	path := l.LogPath("g", "s")
	for _, n := range []int{1, 2, 7, math.MaxInt - 1} {
		must(t, os.WriteFile(layout.RotatedLogOf(path, n), nil, 0o600))
	}

	for _, limit := range []int64{logLimit, 1 << 40, math.MaxInt64} {
		w.write(15_000)
		done, err := rotateLog(l, "g", "s", limit, math.MaxInt)
		if want := limit == logLimit; done != want || err != nil {
			t.Errorf("at %d bytes: got %v, %v", limit, done, err)
		}
	}

	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2", "s.log.3", "s.log.7",
		"s.log."+strconv.Itoa(math.MaxInt-1))
}

// A log that has become huge is not copied as a whole where its beginning can be cut off.
func TestRotateLogHuge(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(call, path string) error{"cut": nil,
		"truncated": withoutCut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if before == nil {
				needsCut(t)
			}

			l, h := hookedLedger(t)
			w := newLogWriter(t, l, "s")
			w.write(200_000)
			h.Before = before
			if done, err := rotateLog(l, "g", "s", logLimit, 2); !done || err != nil {
				t.Errorf("got %v, %v", done, err)
			}

			got := logText(t, l)
			if !strings.HasSuffix(w.text.String(), got) || before == nil &&
				len(got) > 3*logLimit+disk.CutUnit || len(got) < 3*logLimit {
				t.Errorf("got %d bytes", len(got))
			}
		})
	}

	l, h := hookedLedger(t)
	newLogWriter(t, l, "s").write(200_000)
	h.Before = hookfs.Nth(t, 1, "cut", "", hookfs.Broken)
	if done, err := rotateLog(l, "g", "s", logLimit, 2); done || !errors.Is(err, hookfs.ErrDisk) {
		t.Errorf("got %v, %v of a broken disk", done, err)
	}
}

// Two passes do not rotate one log, and none follows a link.
func TestRotateLogRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	w := newLogWriter(t, l, "s")
	w.write(15_000)
	if _, err := rotateLog(l, "..", "s", 1, 1); err == nil {
		t.Error("a group that is no id is accepted")
	}

	lock, err := disk.OS{}.Lock(l.LogPath("g", "s"), 0, nil)
	must(t, err)
	if done, err := rotateLog(l, "g", "s", logLimit, 3); done || err != nil {
		t.Errorf("got %v, %v while another has the lock", done, err)
	}

	must(t, lock.Unlock())

	h.Before = hookfs.Nth(t, 1, "cut", "", hookfs.Broken)
	if done, err := rotateLog(l, "g", "s", logLimit, 3); done || !errors.Is(err, hookfs.ErrDisk) {
		t.Errorf("got %v, %v of a broken disk", done, err)
	}

	h.Before = nil

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.Rename(l.LogPath("g", "s"), elsewhere))
	must(t, os.Symlink(elsewhere, l.LogPath("g", "s")))
	if done, err := rotateLog(l, "g", "s", 1, 3); done || err == nil {
		t.Errorf("got %v, %v of a link", done, err)
	}
	if _, text, err := readLog(l, "g", "s", 5); err == nil {
		t.Errorf("got %q through a link", text)
	}
}

func TestReadLog(t *testing.T) {
	t.Parallel()
	for name, c := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, h := hookedLedger(t)
			h.Before = c.before
			r, text, err := readLog(l, "g", "s", 3)
			must(t, err)
			if len(text) > 0 {
				t.Errorf("got %q without a log", text)
			}
			if text, err := r.Next(); err != nil || len(text) > 0 {
				t.Errorf("got %q, %v without a log", text, err)
			}

			w := newLogWriter(t, l, "s")
			read := 0
			next := func() {
				t.Helper()
				text, err := r.Next()
				must(t, err)
				if want := w.text.String()[read:]; string(text) != want {
					t.Errorf("got %d bytes, want %d", len(text), len(want))
				}
				read = w.text.Len()
			}

			w.write(3)
			next()
			next()

			for _, rotations := range []int{1, 2, 1, 3} {
				for i := range rotations {
					w.write(15_000)
					if i == 0 && rotations == 1 {
						next() // the reader's text is cut off
						w.write(2)
					}
					_, err := rotateBy(l, "g", "s", logs.Rule{Limit: logLimit, Keep: 3,
						Compress: c.compress})
					must(t, err)
				}

				next()
				w.write(1)
				next()
			}

			all := strings.SplitAfter(w.text.String(), "\n")
			for _, lines := range []int{0, 1, 2, 20_000} {
				_, text, err := readLog(l, "g", "s", lines)
				must(t, err)
				if want := strings.Join(all[len(all)-1-lines:], ""); string(text) != want {
					t.Errorf("%d lines: got %d bytes, want %d", lines, len(text), len(want))
				}
			}

			_, text, err = readLog(l, "g", "s", 1_000_000)
			must(t, err)
			if string(text) != logText(t, l) {
				t.Errorf("got %d bytes of all", len(text))
			}

			w.file.WriteString("torn")
			if _, text, err = readLog(l, "g", "s", 1); err != nil || string(text) != "torn" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

// While a log is rotated, a reader waits for the end of that, but not for ever, because the pass
// may have died.
func TestReadLogDuringRotation(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	w := newLogWriter(t, l, "s")
	r, _, err := readLog(l, "g", "s", 0)
	must(t, err)
	w.write(3)
	must(t, os.WriteFile(layout.NextLogOf(l.LogPath("g", "s")), nil, 0o600))

	for range 20 {
		if text, err := r.Next(); err != nil || len(text) > 0 {
			t.Errorf("got %q, %v", text, err)
		}
	}

	if text, err := r.Next(); err != nil || string(text) != w.text.String() {
		t.Errorf("got %q, %v", text, err)
	}

	must(t, os.Remove(layout.NextLogOf(l.LogPath("g", "s"))))

	// One that comes between two looks of the reader: it looks again.
	w.write(15_000)
	h.Before = hookfs.Nth(t, 2, "stat", ".log.1", func() error {
		h.Before = nil
		_, err := rotateLog(l, "g", "s", logLimit, 3)
		return err
	})

	if text, err := r.Next(); err != nil || len(text) > 0 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	if text, err := r.Next(); err != nil || string(text) != w.text.String()[21:] {
		t.Errorf("got %d bytes, %v", len(text), err)
	}

	for _, call := range []string{"stat", "open", "read at", "fstat"} {
		for _, n := range []int{1, 2, 3, 4} {
			w.write(15_000)
			_, err := rotateLog(l, "g", "s", logLimit, 3)
			must(t, err)
			count := 0
			h.Before = func(c, _ string) error {
				if c == call {
					if count++; count == n {
						return hookfs.ErrDisk
					}
				}
				return nil
			}

			_, nextErr := r.Next()
			if failed := count >= n; failed != errors.Is(nextErr, hookfs.ErrDisk) {
				t.Errorf("%s %d: got %v, failed %v", call, n, nextErr, failed)
			}

			count = 0
			_, _, err = readLog(l, "g", "s", 1_000_000)
			if failed := count >= n; failed != errors.Is(err, hookfs.ErrDisk) {
				t.Errorf("%s %d: got %v, failed %v", call, n, err, failed)
			}

			h.Before = nil
		}
	}

	if _, _, err := readLog(l, "g", "..", 1); err == nil {
		t.Error("a supervisor that is no id is accepted")
	}
}

// A log of 40 GB without a newline, such as a sparse file, is shown in parts, with little memory.
func TestReadLogHuge(t *testing.T) {
	t.Parallel()
	const size = 40 << 30
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	writeFile(t, path, "")
	must(t, os.Truncate(path, size))
	r, text, err := readLog(l, "g", "s", 5)
	must(t, err)
	if len(text) != mostText {
		t.Errorf("got %d bytes of the end", len(text))
	}

	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	for i, part := range []string{"first", "second", "third"} {
		_, err := f.WriteAt([]byte(part), size+int64(i)*mostText)
		must(t, err)
	}

	must(t, os.Truncate(path, 2*size))
	for _, part := range []string{"first", "second", "third"} {
		text, err := r.Next()
		must(t, err)
		if len(text) != mostText || !bytes.HasPrefix(text, []byte(part)) {
			t.Errorf("got %d bytes that begin with %q, want %q", len(text), text[:10], part)
		}
	}
}

// A log that someone has truncated by hand has nothing new until it grows again.
func TestReadLogTruncated(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	writeFile(t, path, "0123456789")
	r, _, err := readLog(l, "g", "s", 5)
	must(t, err)
	must(t, os.Truncate(path, 5))
	if text, err := r.Next(); len(text) > 0 || err != nil {
		t.Errorf("got %q, %v", text, err)
	}

	writeFile(t, path, "01234new")
	if text, err := r.Next(); string(text) != "new" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// Text rotated since the last look is shown in parts as well.
func TestReadLogHugeRotated(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	writeFile(t, path, "0123456789")
	r, _, err := readLog(l, "g", "s", 5)
	must(t, err)

	must(t, os.Truncate(path, 2*mostText+15))
	must(t, os.Rename(path, layout.RotatedLogOf(path, 2)))
	writeFile(t, layout.RotatedLogOf(path, 1), "first")
	writeFile(t, path, "second")

	for i, want := range []int{mostText, mostText, len("\x00\x00\x00\x00\x00firstsecond"), 0} {
		text, err := r.Next()
		must(t, err)
		if len(text) != want {
			t.Errorf("part %d: got %d bytes, want %d", i, len(text), want)
		}
		if i == 2 && string(text) != "\x00\x00\x00\x00\x00firstsecond" {
			t.Errorf("got %q", text)
		}
	}
}
