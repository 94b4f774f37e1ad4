package logs_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// unzip returns what is in a compressed file; "" if there is none.
func unzip(t *testing.T, path string) string {
	t.Helper()
	data := readText(t, path)
	if data == "" {
		return ""
	}
	zip, err := gzip.NewReader(strings.NewReader(data))
	must(t, err)
	text, err := io.ReadAll(zip)
	must(t, err)
	return string(text)
}

// zipped returns text compressed, with a comment.
func zipped(t *testing.T, text, comment string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	zip.Comment = comment
	_, err := zip.Write([]byte(text))
	must(t, errors.Join(err, zip.Close()))
	return b.String()
}

// fill writes the rotated files of the log of s: "1", or "2.gz", which is compressed.
func fill(t *testing.T, l *fileops.Ledger, files map[string]string) {
	t.Helper()
	for number, text := range files {
		if strings.HasSuffix(number, ".gz") {
			text = zipped(t, text, "")
		}
		writeFile(t, l.LogPath("g", "s")+"."+number, text)
	}
}

// wantLines compares what all of the log of s is read as with want.
func wantLines(t *testing.T, l *fileops.Ledger, want string) {
	t.Helper()
	_, text, err := readLog(l, "g", "s", 1_000_000)
	if string(text) != want || err != nil {
		t.Errorf("got %.80q (%d bytes), %v, want %.80q (%d bytes)", text, len(text), err, want, len(want))
	}
}

// Rotated files are compressed from .2 on, as long as the rule says so. Plain and compressed ones
// get their numbers alike, and go alike.
func TestCompress(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	w := newLogWriter(t, l, "s")
	for i, c := range []struct {
		compress bool
		keep     int
		want     []string
	}{
		{false, 9, []string{"s.log", "s.log.1"}},
		{true, 9, []string{"s.log", "s.log.1", "s.log.2.gz"}},
		{true, 9, []string{"s.log", "s.log.1", "s.log.2.gz", "s.log.3.gz"}},
		{false, 9, []string{"s.log", "s.log.1", "s.log.2", "s.log.3.gz", "s.log.4.gz"}},
		{false, 9, []string{"s.log", "s.log.1", "s.log.2", "s.log.3", "s.log.4.gz", "s.log.5.gz"}},
		{true, 9, []string{"s.log", "s.log.1", "s.log.2.gz", "s.log.3.gz", "s.log.4.gz", "s.log.5.gz",
			"s.log.6.gz"}},
		{true, 3, []string{"s.log", "s.log.1", "s.log.2.gz", "s.log.3.gz"}},
		{false, 2, []string{"s.log", "s.log.1", "s.log.2"}},
		{true, 1, []string{"s.log", "s.log.1"}},
	} {
		w.write(10)
		done, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: c.keep, Compress: c.compress})
		if !done || err != nil {
			t.Fatal(done, err)
		}
		wantNames(t, l.GroupLogs("g"), c.want...)
		text := w.text.String()
		if c.keep < 9 {
			text = strings.Join(strings.SplitAfter(text, "\n")[10*(i+1-c.keep):], "")
		}
		if got := logText(t, l); got != text {
			t.Errorf("step %d: %d bytes are in the files, want %d", i, len(got), len(text))
		}
		wantLines(t, l, text)
		for _, name := range c.want {
			info, err := os.Stat(l.GroupLogs("g") + "/" + name)
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}

	done, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: 1, Compress: true})
	if done || err != nil {
		t.Errorf("an empty log: %v, %v", done, err)
	}
}

// If there is no room for a compressed file, the plain one stays, and the rotation is done. A later
// one compresses it.
func TestCompressWithoutRoom(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"create", "write", "fsync", "replace", "open", "fstat", "readdir",
		"remove"} {
		l, h := hookedLedger(t)
		w := newLogWriter(t, l, "s")
		rule := logs.Rule{Due: true, Keep: 9, Compress: true}
		w.write(10)
		_, err := rotateBy(l, "g", "s", rule)
		must(t, err)

		w.write(10)
		shifted := false // after that it compresses
		h.Before = func(c, path string) error {
			if c == "replace" && strings.HasSuffix(path, ".log.1") {
				shifted = true
				return nil
			}
			if c == call && shifted {
				return hookfs.ErrDisk
			}
			return nil
		}
		done, err := rotateBy(l, "g", "s", rule)
		if !done || !errors.Is(err, hookfs.ErrDisk) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, %v", call, done, err)
		}
		h.Before = nil
		wantLines(t, l, w.text.String())
		if plain := layout.RotatedLogOf(l.LogPath("g", "s"), 2); !exists(plain) {
			t.Errorf("%s: the plain file is gone", call)
		}

		w.write(10)
		if done, err := rotateBy(l, "g", "s", rule); !done || err != nil {
			t.Errorf("%s: then got %v, %v", call, done, err)
		}
		wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2.gz", "s.log.3.gz")
		wantLines(t, l, w.text.String())
	}
}

// A pass that does not know compressed files leaves them where they are, and may give their number
// to another file. Then both are read, and get numbers of their own.
func TestCompressBesideOlderPasses(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	fill(t, l, map[string]string{"1": "5\n", "2": "4\n", "2.gz": "3\n", "3": "2\n", "3.gz": "1\n"})
	w := newLogWriter(t, l, "s")
	w.write(1)
	wantLines(t, l, "1\n2\n3\n4\n5\nline 1\n")
	for _, compress := range []bool{false, true} {
		if done, err := rotateBy(l, "g", "s",
			logs.Rule{Due: true, Keep: 9, Compress: compress}); !done || err != nil {
			t.Fatal(done, err)
		}
		wantLines(t, l, "1\n2\n3\n4\n5\n"+w.text.String())
		w.write(1)
	}
	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2.gz", "s.log.3.gz", "s.log.4.gz",
		"s.log.5.gz", "s.log.6.gz", "s.log.7.gz")
}

// A log that was renamed to the name of a rotated file is not compressed while it is written to.
func TestCompressNotTheLog(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	writeFile(t, path, "a log\n")
	must(t, os.Link(path, layout.RotatedLogOf(path, 2)))
	done, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: 9, Compress: true})
	if !done || err != nil {
		t.Error(done, err)
	}
	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2")
}

// identity is that of spec §11.8.
func identity(t *testing.T, path string) string {
	t.Helper()
	info, err := disk.OS{}.Lstat(path)
	must(t, err)
	device, inode := info.ID.Numbers()
	return fmt.Sprintf("dpl %d %d %d", device, inode, info.ModTime.UnixNano())
}

// A follower recognises the file that it has read in the compressed one, and not in another file
// that has the inode of a deleted one.
func TestFollowCompressed(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	first := layout.RotatedLogOf(path, 1)
	fill(t, l, map[string]string{"1": "one\n", "2.gz": "zero\n"})
	writeFile(t, path, "two, three, four\n")
	r, text, err := readLog(l, "g", "s", 1)
	if string(text) != "two, three, four\n" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}

	fill(t, l, map[string]string{"2.gz": "two, ", "4.gz": "zero\n"})
	writeFile(t, layout.CompressedLogOf(path, 3), zipped(t, "one\n", identity(t, first)))
	writeFile(t, first, "three, four\n and five\n") // the same inode
	later := time.Now().Add(time.Hour)
	must(t, os.Chtimes(first, later, later))
	writeFile(t, path, "six\n")

	for _, want := range []string{" and five\nsix\n", ""} {
		if text, err := r.Next(); string(text) != want || err != nil || len(r.Damaged()) > 0 {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
	}
}

// What can be read of a damaged file is shown, with one error, and so are the others.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	whole := zipped(t, "b1\nb2\n", "")
	for name, c := range map[string]struct{ data, text string }{
		"empty":      {"", ""},
		"no header":  {"b1\nb2\n", ""},
		"cut header": {whole[:5], ""},
		"cut":        {whole[:len(whole)-1], "b1\nb2\n"},
		"checksum":   {whole[:len(whole)-8] + "\x00" + whole[len(whole)-7:], "b1\nb2\n"},
		"text":       {whole[:10] + "\xff\xff\xff\xff" + whole[14:], ""},
		"more":       {whole + "more", "b1\nb2\n"},
	} {
		l, _ := hookedLedger(t)
		path := l.LogPath("g", "s")
		damaged := layout.CompressedLogOf(path, 3)
		writeFile(t, path, "e\n")
		follower, _, err := readLog(l, "g", "s", 1)
		must(t, err)
		fill(t, l, map[string]string{"1": "e\nd\n", "2.gz": "c\n", "4.gz": "a\n"})
		writeFile(t, damaged, c.data)
		writeFile(t, path, "e\n")
		check := func(who string, r *logs.Reader, text []byte, want string, err error) {
			t.Helper()
			all := r.Damaged()
			if string(text) != want || err != nil || len(all) != 1 ||
				!errors.Is(all[0], wire.ErrCorrupt) || !strings.HasPrefix(all[0].Error(), damaged+": ") ||
				strings.Contains(all[0].Error(), "\n") || len(r.Damaged()) > 0 {
				t.Errorf("%s %s: got %q, %v, %v, want %q", name, who, text, err, all, want)
			}
		}

		r, text, err := readLog(l, "g", "s", 100)
		check("reader", r, text, "a\n"+c.text+"c\ne\nd\ne\n", err)
		text, err = follower.Next()
		check("follower", follower, text, c.text+"c\ne\nd\ne\n", err)

		r, text, err = readLog(l, "g", "s", 2)
		if string(text) != "d\ne\n" || err != nil || len(r.Damaged()) > 0 {
			t.Errorf("%s: got %q, %v: the last lines are in other files", name, text, err)
		}
		w := newLogWriter(t, l, "s")
		w.write(1)
		done, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: 5, Compress: true})
		if !done || err != nil {
			t.Errorf("%s: rotated %v, %v", name, done, err)
		}
		if got := readText(t, layout.CompressedLogOf(path, 4)); got != c.data {
			t.Errorf("%s: a rotation changed the damaged file", name)
		}
	}
}

// A compressed file is shown with little memory, however large it is.
func TestReadCompressedHuge(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	path := l.LogPath("g", "s")
	r, _, err := readLog(l, "g", "s", 0)
	must(t, err)
	text := strings.Repeat("0123456789abcde\n", 3*mostText/16) + "end\n"
	fill(t, l, map[string]string{"1": "next\n", "2.gz": text, "3.gz": "first\n"})
	writeFile(t, path, "last\n")

	want := "first\n" + text + "next\nlast\n"
	_, got, err := readLog(l, "g", "s", len(text))
	must(t, err)
	if len(got) != mostText+len("next\nlast\n") || !strings.HasSuffix(want, string(got)) {
		t.Errorf("got %d bytes of the end", len(got))
	}
	for part := 0; want != ""; part++ {
		got, err := r.Next()
		if err != nil || len(got) == 0 || len(got) > mostText || !strings.HasPrefix(want, string(got)) {
			t.Fatalf("part %d: got %d bytes, %v", part, len(got), err)
		}
		want = want[len(got):]
	}
}

// The end of a log may be in a compressed file if the others were moved. If that is damaged, it does
// not keep a service from starting.
func TestEndCompressed(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	log, err := l.ServiceLog("g", "s", nil)
	must(t, err)
	path := layout.CompressedLogOf(l.LogPath("g", "s"), 2)
	whole := zipped(t, strings.Repeat("0123456789", 1000), "")
	writeFile(t, l.LogPath("g", "s"), "end")
	for _, c := range []struct{ data, want string }{
		{whole, "6789end"}, {whole[:len(whole)-4], "6789end"}, {"damaged", "end"},
	} {
		writeFile(t, path, c.data)
		if got, err := log.End(7); string(got) != c.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
	writeFile(t, path, whole)
	for _, call := range []string{"open", "read at"} {
		h.Before = hookfs.Nth(t, 1, call, "s.log.2.gz", hookfs.Broken)
		if got, err := log.End(7); !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: got %q, %v", call, got, err)
		}
	}
}

// A file that is compressed while somebody reads it is read all the same, and an error of the disk
// is one.
func TestReadWhileCompressed(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	path := l.LogPath("g", "s")
	r, _, err := readLog(l, "g", "s", 0)
	must(t, err)
	fill(t, l, map[string]string{"1": "c\n", "2": "b\n", "3": "a\n"})
	writeFile(t, path, "d\n")
	pack := func(number string) func() error {
		return func() error {
			h.Before = nil
			writeFile(t, path+"."+number+".gz", zipped(t, readText(t, path+"."+number),
				identity(t, path+"."+number)))
			return os.Remove(path + "." + number)
		}
	}
	h.Before = hookfs.Nth(t, 1, "open", ".log.3", pack("3"))
	wantLines(t, l, "a\nb\nc\nd\n")
	h.Before = hookfs.Nth(t, 1, "open", ".log.2", pack("2"))
	if text, err := r.Next(); string(text) != "a\nb\nc\nd\n" || err != nil {
		t.Errorf("followed: %q, %v", text, err)
	}

	for _, call := range []string{"stat", "open", "read at", "fstat"} {
		for _, suffix := range []string{".2.gz", ".3.gz"} {
			reader, _, err := readLog(l, "g", "s", 0)
			must(t, err)
			must(t, os.Rename(path+".1", path+".moved"))
			h.Before = hookfs.Nth(t, 1, call, suffix, hookfs.Broken)
			if text, err := reader.Next(); !errors.Is(err, hookfs.ErrDisk) {
				t.Errorf("%s %s: followed %q, %v", call, suffix, text, err)
			}
			h.Before = hookfs.Nth(t, 1, call, suffix, hookfs.Broken)
			if _, text, err := readLog(l, "g", "s", 100); !errors.Is(err, hookfs.ErrDisk) {
				t.Errorf("%s %s: got %q, %v", call, suffix, text, err)
			}
			h.Before = nil
			must(t, os.Rename(path+".moved", path+".1"))
		}
	}

	// A copy that a killed pass has left beside the plain file.
	for _, call := range []string{"stat", "open", "read at"} {
		fill(t, l, map[string]string{"2": "b\n"})
		h.Before = hookfs.Nth(t, 1, call, ".2.gz", hookfs.Broken)
		_, err := rotateBy(l, "g", "s", logs.Rule{Due: true, Keep: 9})
		if !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: rotated with %v", call, err)
		}
		h.Before = nil
	}
}
