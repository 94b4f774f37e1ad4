//go:build unix

package inspect

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/wire"
)

// open returns the attempt in dir, with rules.
func open(t *testing.T, dir, rules string) *Attempt {
	t.Helper()
	r, err := check.Decode(rules)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir, r, Options{Now: time.Now(), Limit: time.Minute, Output: &strings.Builder{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect checks that err is a Fact, if fact is set, or else a doubt, and says want. It is nil if
// want is "".
func expect(t *testing.T, what string, err error, fact bool, want string) {
	t.Helper()
	_, isFact := errors.AsType[check.Fact](err)
	if err == nil && want != "" || err != nil && (want == "" || isFact != fact ||
		!strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v (fact: %t), want %q (%t)", what, err, isFact, want, fact)
	}
}

// hostile returns a directory with files of all kinds, and what is said of each.
func hostile(t *testing.T) (dir string, facts map[string]string) {
	top := t.TempDir()
	dir = filepath.Join(top, "dir")
	write(t, "secret", top, "outside")
	write(t, "good", dir, "good")
	must(t, os.Symlink("good", filepath.Join(dir, "inside")))
	must(t, os.Symlink("../outside", filepath.Join(dir, "dots")))
	must(t, os.Symlink(filepath.Join(dir, "good"), filepath.Join(dir, "absolute")))
	must(t, os.Symlink("..", filepath.Join(dir, "up")))
	must(t, os.Symlink("nothing", filepath.Join(dir, "dangling")))
	must(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	t.Cleanup(func() { socket.Close() })

	const out = "a symbolic link leads out of the directory"
	facts = map[string]string{
		"good": "", "inside": "", "dots": out, "absolute": out, "up": out, "up/outside": out,
		"dangling": "it is a symbolic link to nothing", "sub": "it is a directory",
		"circle": "its symbolic links lead in a circle", "fifo": "it is a FIFO",
		"socket": "it is a socket", "none": "it does not exist", "none/none": "it does not exist",
		"good/none": "it does not exist", strings.Repeat("n", 300): "it does not exist",
	}
	return dir, facts
}

// Files of all kinds are looked at and read, and nothing outside, and nothing waits.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	dir, facts := hostile(t)
	a := open(t, dir, `{}`)
	for path, want := range facts {
		_, err := a.Look(path)
		expect(t, "look "+path, err, true, want)
		text, err := a.Read(path)
		expect(t, "read "+path, err, true, want)
		if want == "" && text != "good" {
			t.Errorf("%s: got %q", path, text)
		}
	}
}

// What takes the place of a file after it was looked at is found out, and a FIFO is not waited for.
func TestReplaced(t *testing.T) {
	t.Parallel()
	dir, facts := hostile(t)
	a := open(t, dir, `{}`)
	for _, path := range []string{"fifo", "dots", "absolute", "circle", "good"} {
		ended := make(chan error, 1)
		go func() {
			_, err := a.content(path)
			ended <- err
		}()
		select {
		case err := <-ended:
			expect(t, path, err, true, facts[path])
		case <-time.After(time.Minute):
			t.Fatalf("%s is waited for", path)
		}
	}
}

// A device is no file, although it can be read.
func TestDevice(t *testing.T) {
	t.Parallel()
	a := open(t, "/dev", `{}`)
	_, err := a.Read("zero")
	expect(t, "/dev/zero", err, true, "it is a device")
}

func TestLargeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, strings.Repeat("x", check.MaxText), dir, "most")
	write(t, strings.Repeat("x", check.MaxText+1), dir, "more")
	write(t, "", dir, "huge")
	must(t, os.Truncate(filepath.Join(dir, "huge"), 1<<40))

	a := open(t, dir, `{}`)
	text, err := a.Read("most")
	if len(text) != check.MaxText {
		t.Errorf("got %d bytes", len(text))
	}
	expect(t, "most", err, false, "")
	for _, name := range []string{"more", "huge"} {
		_, err = a.Read(name)
		expect(t, name, err, false, "it is larger than 512 KiB")
		_, err = a.Look(name)
		expect(t, name, err, false, "")
	}
}

// Without permission nothing is known.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything; testscripts/check/hostile.txtar does it as another user")
	}
	dir := t.TempDir()
	write(t, "x", dir, "file")
	write(t, "x", dir, "closed", "file")
	must(t, os.Chmod(filepath.Join(dir, "file"), 0))
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o755) })

	a := open(t, dir, `{}`)
	_, err := a.Look("file")
	expect(t, "look", err, false, "")
	_, err = a.Read("file")
	expect(t, "read", err, false, "permission denied")
	_, err = a.Look("closed/file")
	expect(t, "look inside", err, false, "permission denied")
	_, err = a.Matches("closed/*")
	expect(t, "match inside", err, false, "permission denied")
	_, err = a.Matches("*/file")
	expect(t, "match through", err, false, "permission denied")
}

func TestMatches(t *testing.T) {
	t.Parallel()
	dir, _ := hostile(t)
	for _, name := range []string{"sub/a.go", "sub/b.go", "sub/deep/c.go", ".hidden", "a*b", "aXb"} {
		write(t, "", dir, name)
	}
	must(t, os.Symlink("sub", filepath.Join(dir, "linked")))
	a := open(t, dir, `{}`)
	for pattern, want := range map[check.Pattern]string{
		"*.go":       "",
		"sub/*.go":   "sub/a.go sub/b.go",
		"*/*.go":     "linked/a.go linked/b.go sub/a.go sub/b.go",
		"*/a.go":     "linked/a.go sub/a.go",
		"s?b/[^a].*": "sub/b.go",
		"*/deep/*":   "linked/deep/c.go sub/deep/c.go",
		"*/*/*.go":   "linked/deep/c.go sub/deep/c.go",
		"sub/*":      "sub/a.go sub/b.go",
		".*":         ".hidden",
		"a*b":        "a*b aXb",
		`a\*b`:       "a*b",
		"up/*":       "",
		"up*":        "up",
		"good/*":     "",
		"none/*":     "",
		"*o*":        "absolute dots fifo good socket",
		"no/such":    "no/such",
	} {
		got, err := a.Matches(pattern)
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: got %v, %v, want %s", pattern, got, err, want)
		}
	}
}

// More files than anybody looks at are no success.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range check.MaxMatches + 1 {
		write(t, "", dir, fmt.Sprintf("%04d", i))
	}
	a := open(t, dir, `{}`)
	got, err := a.Matches("0*")
	if len(got) != 1000 || err != nil {
		t.Errorf("got %d, %v", len(got), err)
	}
	_, err = a.Matches("*")
	expect(t, "*", err, false, "more than 1000 files match")

	w := walk{root: a.root, names: check.MaxNames - check.MaxMatches - 1}
	_, err = w.list(".", "x*")
	expect(t, "100000 names", err, false, "")
	_, err = w.list(".", "x*")
	expect(t, "more names", err, false, "more than 100000 names")
}

// Each change of a file changes its stamp, also one that keeps size and time of the content.
func TestStamp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	a := open(t, dir, `{}`)
	stamp := func() check.Stamp {
		s, err := a.Look("file")
		must(t, err)
		s.Young = false
		return s
	}

	write(t, "one", name)
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(name, long, long))
	first := stamp()
	deadline := time.Now().Add(10 * time.Second)
	for now := first; now == first; now = stamp() { // until the clock of the kernel has moved
		write(t, "two", name)
		must(t, os.Chtimes(name, long, long))
		if time.Now().After(deadline) {
			t.Fatal("a change of the content changes nothing")
		}
	}

	write(t, "two", name+"2")
	must(t, os.Chtimes(name+"2", long, long))
	before := stamp()
	must(t, os.Rename(name+"2", name))
	if after := stamp(); after.Inode == before.Inode {
		t.Errorf("got %v, then %v", before, after)
	}
}

// A file is young for 20 ms, and for 2 s where times have no fraction.
func TestYoung(t *testing.T) {
	t.Parallel()
	changed := time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)
	whole := changed.Truncate(time.Second)
	for _, tt := range []struct {
		changed time.Time
		age     time.Duration
		want    bool
	}{
		{changed, 0, true}, {changed, 19 * time.Millisecond, true}, {changed, 20 * time.Millisecond, false},
		{changed, -time.Hour, true}, {whole, 1999 * time.Millisecond, true}, {whole, 2 * time.Second, false},
	} {
		if got := tt.age < coarseness(tt.changed); got != tt.want {
			t.Errorf("%v, %v: got %t", tt.changed, tt.age, got)
		}
	}

	dir := t.TempDir()
	write(t, "", dir, "file")
	for _, tt := range []struct {
		now  time.Time
		want bool
	}{{time.Now(), true}, {time.Now().Add(-time.Hour), true}, {time.Now().Add(time.Hour), false}} {
		a := open(t, dir, `{}`)
		a.Now = tt.now
		if tt.now.Before(time.Now().Add(time.Minute)) {
			a.Now = tt.now.Add(-time.Minute) // the file may be a second old by now
		}
		if s, err := a.Look("file"); err != nil || s.Young != tt.want {
			t.Errorf("%v: got %v, %v", tt.now, s, err)
		}
	}
}

func TestConforms(t *testing.T) {
	t.Parallel()
	const number = `{"maximum":10}`
	for _, tt := range []struct {
		schema, text string
		fact         bool
		want         string
	}{
		{`{"a":"string","b":"integer"}`, `{"a":"x","b":1}`, false, ""},
		{`{"a":"string","b":"integer"}`, `{"a":"x","b":1.0}`, false, ""},
		{`{"a":"string","b":"integer"}`, `{"a":1,"b":1.5,"d":1,"c":2}`, true,
			"/a: got number, want string; /b: got number, want integer; additional properties 'c', 'd' not allowed"},
		{`{"a":"string"}`, `{}`, true, "missing property 'a'"},
		{`{"a":"string"}`, `[]`, true, "got array, want object"},
		{`{}`, `null`, false, ""},
		{`true`, ` 1 `, false, ""},
		{`false`, `1`, true, "false schema"},
		{`{}`, ``, true, "it is not valid JSON: the file is empty"},
		{`{}`, `{"a":1,"a":2}`, true, "it is not valid JSON: /a: duplicate object member name"},
		{`{}`, "\"\xff\"", true, "it is not valid JSON: invalid UTF-8"},
		{`{}`, "\uFEFF{}", true, "it is not valid JSON"},
		{`{}`, `{} {}`, true, "it is not valid JSON: data after the end"},
		{`{}`, `NaN`, true, "it is not valid JSON"},
		{`{}`, strings.Repeat("[", 100_000), true, "it is not valid JSON"},
		{`{}`, strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), true, "it is not valid JSON"},
		{`{"items":{"$ref":"#"},"type":"array"}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), false, ""},
		{number, `10`, false, ""},
		{number, `1e1`, false, ""},
		{number, `11`, true, "maximum"},
		{number, `1e400`, true, "maximum"},
		{number, `{"a":[1e401]}`, false, "/a/0: a number is too large or too long"},
		{number, `1e999999999`, false, "a number is too large or too long"},
		{number, `1E-999999999`, false, "a number is too large or too long"},
		{number, `1e99999999999999999999999`, false, "a number is too large or too long"},
		{number, strings.Repeat("9", 500_000), false, "a number is too large or too long"},
		{`{"format":"date"}`, `"tomorrow"`, true, "date"},
		{`{"pattern":"^(a+)+$"}`, `"` + strings.Repeat("a", 100_000) + `b"`, true, "does not match pattern"},
		{`{"uniqueItems":true}`, `[` + strings.Repeat(`1,`, 10) + `2]`, true, "equal"},
		{`{"maxLength":1}`, `"ab"`, true, "maxLength"},
		{`{"allOf":[{"minimum":1},{"minimum":2},{"minimum":3},{"minimum":4},{"minimum":5},{"minimum":6}]}`,
			`0`, true, "and 1 more"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}]}`, `[1]`, true, "/0: got number, want null"},
	} {
		a := open(t, t.TempDir(), `{"json":{"f":`+tt.schema+`}}`)
		start := time.Now()
		err := a.Conforms(a.rules.JSON[0], tt.text)
		expect(t, tt.schema+" "+check.Shorten(tt.text), err, tt.fact, tt.want)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: %s takes %v", tt.schema, check.Shorten(tt.text), d)
		}
		if err != nil && len(err.Error()) > 1500 {
			t.Errorf("%s: %d bytes", tt.schema, len(err.Error()))
		}
	}
}

// A schema that is none is refused with its place, and no other file is read for it.
func TestBadSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"text","items":{}}`:            "/json/a~1b: /type: ",
		`5`:                                     "/json/a~1b: ",
		`"string"`:                              "/json/a~1b: ",
		`{"$ref":"file:///etc/passwd"}`:         "$ref file:///etc/passwd: a schema in another file is not read",
		`{"$ref":"https://example.com/schema"}`: "a schema in another file is not read",
		`{"$ref":"other.json"}`:                 "/json/a~1b: ",
		`{"$ref":"#/$defs/none"}`:               "/json/a~1b: ",
		`{"$schema":"https://example.com/s"}`:   "a schema in another file is not read",
		`{"pattern":"("}`:                       "/json/a~1b: /pattern: ",
		`{"minimum":1e999999999}`:               "/json/a~1b: /minimum: a number is too large",
	} {
		rules, err := check.Decode(`{"json":{"a/b":` + schema + `}}`)
		must(t, err)
		_, err = Open(t.TempDir(), rules, Options{Limit: time.Minute})
		if !errors.Is(err, wire.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", schema, err, want)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		argv, timeout string
		status        int64
		output, want  string
	}{
		{`"sh","-c","pwd; cat; echo err >&2"`, "60000", 0, dir + "\nerr\n", ""},
		{`"sh","-c","exit 75"`, "60000", 75, "", ""},
		{`"sh","-c","exit 127"`, "60000", 127, "", ""},
		{`"sh","-c","kill -9 $$"`, "60000", 0, "", "it was killed: signal: killed"},
		{`"sh","-c","echo begun; sleep 1000 & wait"`, "300", 0, "begun\n", "it was stopped after 300ms"},
		{`"./none"`, "60000", 0, "", "it could not be run"},
		{`"dpl-no-such-program"`, "60000", 0, "", "it could not be run"},
		{`"."`, "60000", 0, "", "it could not be run"},
		{`"sh","-c","printf '\\377x'"`, "60000", 0, "\uFFFDx", ""},
	} {
		a := open(t, dir, `{"command":[`+tt.argv+`],"timeoutMs":`+tt.timeout+`}`)
		shown := &strings.Builder{}
		a.Output = shown
		status, output, err := a.Run()
		expect(t, tt.argv, err, false, tt.want)
		if status != tt.status || output != tt.output ||
			strings.ToValidUTF8(shown.String(), "\uFFFD") != tt.output {
			t.Errorf("%s: got %d, %q, shown %q", tt.argv, status, output, shown)
		}
	}
}

// A dry run runs nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, dir, `{"command":["touch","ran"]}`)
	a.DryRun = true
	_, _, err := a.Run()
	expect(t, "dry run", err, false, "--dry-run")
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("got %v, %v", left, err)
	}
}

// Judge and Attempt fit together: the same files always make the same report.
func TestStable(t *testing.T) {
	t.Parallel()
	dir, _ := hostile(t)
	rules := `{"files":["*","none*"],"absent":{"*":"o"},"json":{"*":{"zz":"null","aa":"null"}}}`
	write(t, `{"n":1,"m":2,"l":3,"k":4}`, dir, "x.json")
	a := open(t, dir, rules)
	first := a.rules.Judge(a, nil)
	if len(first.Failed) < 10 || first.Verdict() != check.Failed {
		t.Errorf("got %v", first)
	}
	for range 20 {
		if r := a.rules.Judge(a, nil); !slices.Equal(r.Failed, first.Failed) || !slices.Equal(r.Uncertain, first.Uncertain) {
			t.Fatalf("got %v\nthen %v", first, r)
		}
	}
}
