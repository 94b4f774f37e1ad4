//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// refusals are the statuses of commands that do not like what they find, beside success.
var refusals = []int{0, 1, 3, 4, 5, 64, 65, 66, 69, 71, 73, 74, 75, 76, 77, 78, 124}

// values are what takes the place of a value in a damaged file.
var values = []string{
	"null", "true", "-1", "0", "1e400", "99999999999999999999", "4611686018427387904", `""`, `"x"`,
	"[]", "{}", `"../../etc"`, `"a/b"`,
	`"9999-12-31T23:59:59.999Z"`, `"1969-01-01T00:00:00Z"`, `"\u0000"`, `"\u202e\u001b[2J"`, "[[]]",
	`{"a":{"b":[1,2,3]}}`,
}

// mutations make other text of the text of a file.
var mutations = []func(w *world, text []byte) []byte{
	func(w *world, text []byte) []byte { return text[:w.intn(len(text))] },
	func(w *world, text []byte) []byte { return text[w.intn(len(text)):] },
	func(w *world, text []byte) []byte { text[w.intn(len(text))] ^= 1 << w.intn(8); return text },
	func(w *world, text []byte) []byte { text[w.intn(len(text))] = 0; return text },
	func(w *world, text []byte) []byte { text[w.intn(len(text))] = 0xff; return text },
	func(w *world, text []byte) []byte {
		i := w.intn(len(text))
		return slices.Delete(text, i,
			i+1)
	},
	func(w *world, text []byte) []byte {
		i := w.intn(len(text))
		return slices.Insert(text, i,
			text[i:]...)
	},
	func(w *world, text []byte) []byte { return append(text, text...) },
	func(*world, []byte) []byte { return nil },
	func(*world, []byte) []byte { return []byte(" \n\t") },
	func(*world, []byte) []byte { return bytes.Repeat([]byte("["), 100_000) },
	func(*world, []byte) []byte { return make([]byte, 1<<20) },
	func(_ *world, text []byte) []byte { return append([]byte("\ufeff"), text...) },
	func(_ *world, text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("\n"),
			[]byte("\r\n"))
	},
	func(_ *world, text []byte) []byte { return bytes.ToUpper(text) },
	func(_ *world, text []byte) []byte { return append(text, "garbage"...) },
	func(_ *world, text []byte) []byte {
		return bytes.Replace(text, []byte(`"state"`), []byte(`"state": "running", "state"`), 1)
	},
	func(_ *world, text []byte) []byte {
		return bytes.Replace(text, []byte(`"stack"`),
			append([]byte(`"x": "`+strings.Repeat("y", 1<<20)+`", `), `"stack"`...), 1)
	},
	(*world).otherValue, (*world).otherValue, (*world).otherValue, (*world).otherValue,
	(*world).otherValue,
}

// otherValue gives a member of the text another value.
func (w *world) otherValue(text []byte) []byte {
	var at []int
	for i := range text {
		if text[i] == ':' && i+1 < len(text) && text[i+1] == ' ' {
			at = append(at, i+2)
		}
	}

	begin := at[w.intn(len(at))]
	length := bytes.IndexAny(text[begin:], ",\n")
	return slices.Replace(text, begin, begin+length, []byte(values[w.intn(len(values))])...)
}

// damage damages the file of one operation in many ways, and lets all commands loose on it. None
// crashes, none writes what is no file, and another operation does not suffer.
func damage(w *world) {
	const kinds = 40
	me := fmt.Sprint(os.Getpid())
	push := func(op, call string) {
		w.exits(ok, "dpl-push", "--op", op, "--call", call, "--participant", "p", "--pid", me)
	}

	push("victim", "root")
	push("victim", "work")
	push("fine", "root")
	path := filepath.Join(w.ledger, "operations", "victim.json")
	whole, err := os.ReadFile(path)
	w.must(err)

	for range kinds {
		spoilt := mutations[w.intn(len(mutations))](w, slices.Clone(whole))
		w.must(os.WriteFile(path, spoilt, 0o600))
		w.tryAll("victim")
		w.exits(ok, "dpl-heartbeat", "--op", "fine", "--call", "root")
		w.must(os.RemoveAll(filepath.Join(w.ledger, "archive")))
	}

	for _, replace := range []func() error{
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return os.Symlink("/etc/passwd", path) },
		func() error { return os.Symlink(path, path) },
		func() error { return syscall.Mkfifo(path, 0o600) },
		func() error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
		func() error { return os.WriteFile(path, whole, 0o666) },
		func() error { return os.WriteFile(path, whole, 0) },
	} {
		w.must(os.RemoveAll(path))
		w.must(replace())
		w.tryAll("victim")
		w.exits(ok, "dpl-heartbeat", "--op", "fine", "--call", "root")
	}

	w.must(os.RemoveAll(path))
	w.must(os.WriteFile(path, whole, 0o600))
	w.exits(ok, "dpl-heartbeat", "--op", "victim", "--call", "work")
	for _, call := range []string{"work", "root"} {
		w.exits(ok, "dpl-pop", "--op", "victim", "--call", call)
	}

	w.exits(ok, "dpl-pop", "--op", "fine", "--call", "root")
}

// tryAll runs all that reads or edits an operation, in any order.
func (w *world) tryAll(op string) {
	path := filepath.Join(w.ledger, "operations", op+".json")
	all := [][]string{
		{"dpl-status"}, {"dpl-status", "--op", op}, {"dpl-status", "--op", op, "--json"},
		{"dpl-status", "--op", op, "--html", "-"},
		{"dpl-status", "--op", op, "--why", "work"},
		{"dpl-heartbeat", "--op", op, "--call", "work"},
		{"dpl-push", "--op", op, "--call", "more", "--participant", "p"}, {"dpl-cleanup"},
		{"dpl-doctor"},
		{"dpl-wait", "--op", op, "--for", "completed", "--timeout", "10ms"},
		{"dpl-watch", "--op", op, "--timeout", "10ms"},
		{"dpl-cleanup", "--dry-run"},
	}

	for _, i := range w.order(len(all)) {
		before := regular(path)
		r := w.exits(refusals, all[i]...)
		after := regular(path)
		if before != nil && r.status >= 64 && r.status != 71 && r.status != 124 &&
			!bytes.Equal(before, after) {
			w.fail("it was refused, and has changed the file: %v\nbefore:\n%.2000s\nafter:\n%.2000s", r, before, after)
		}
		if strings.ContainsAny(strings.ReplaceAll(r.stderr, "\n", ""), "\x1b\x07\x00") {
			w.fail("it sends control characters: %q", r.stderr)
		}
	}
}

// regular returns what is in a file, nil if it is none: to open a FIFO would wait.
func regular(path string) []byte {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// order returns the numbers below n in any order.
func (w *world) order(n int) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.choose.Perm(n)
}
