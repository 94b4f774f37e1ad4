package start

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

func TestGateLooksUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(path string, mode fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("#!/bin/sh\necho "+path+"\n"),
			mode); err != nil {
			t.Fatal(err)
		}
	}

	script("one/cmd", 0o700)
	script("two/cmd", 0o700)
	script("closed/cmd", 0o600)
	script("cmd", 0o700)

	for i, c := range []struct{ name, path, want string }{
		{"cmd", "PATH=" + dir + "/one:" + dir + "/two", "one/cmd"},
		{"cmd", "PATH=" + dir + "/none:" + dir + "/closed:" + dir + "/cmd:" + dir + "/two",
			"two/cmd"},
		{"cmd", "PATH=two", "two/cmd"},
		{"cmd", "PATH=none:", "cmd"},
		{"./cmd", "PATH=" + dir + "/one", "cmd"},
		{"one/cmd", "PATH=two", "one/cmd"},
	} {
		s := Command{Argv: []string{c.name}, Dir: dir,
			Env: []string{"XPATH=one", c.path, "PATH=one"}, Log: fmt.Sprint("log", i)}
		released(t, s)
		s.Log = filepath.Join(dir, s.Log) // it was relative to Dir
		if got := logged(t, s, 1)[0]; got != c.want {
			t.Errorf("%q with %q ran %q, want %q", c.name, c.path, got, c.want)
		}
	}

	s := command(t, "echo", "found")
	s.Env = nil
	released(t, s)
	if got := logged(t, s, 1)[0]; got != "found" {
		t.Errorf("without PATH: %q", got)
	}
}

func TestGateFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}

	noFormat, closed := file("noformat", "echo\x00", 0o700), file("closed", "#!/bin/sh\n", 0o600)
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.Symlink(file("target", "", 0o600), link),
		unix.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}

	// A group's logs, and all logs of a ledger, replaced by a link after they were created.
	victim := t.TempDir()
	ledger := filepath.Join(dir, "ledger")
	swappedGroup, swappedLogs := filepath.Join(ledger, "logs/g/s.log"), filepath.Join(ledger,
		"swapped/g/s.log")
	if err := errors.Join(os.MkdirAll(filepath.Join(victim, "g"), 0o700),
		os.MkdirAll(filepath.Join(ledger, "logs"), 0o700),
		os.Symlink(victim, filepath.Dir(swappedGroup)), os.Symlink(victim,
			filepath.Join(ledger, "swapped"))); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		change func(*Command)
		want   string
	}{
		{func(s *Command) { s.Log = swappedGroup },
			fmt.Sprintf("open log %q: not a directory", swappedGroup)},
		{func(s *Command) { s.Log = swappedLogs },
			fmt.Sprintf("open log %q: not a directory", swappedLogs)},
		{func(s *Command) { s.Argv[0] = "no such command" },
			`exec "no such command": no such file or directory`},
		{func(s *Command) { s.Argv[0] = "./no" }, `exec "./no": no such file or directory`},
		{func(s *Command) { s.Argv[0] = "" }, `exec "": no such file or directory`},
		{func(s *Command) { s.Argv[0] = closed },
			fmt.Sprintf("exec %q: permission denied", closed)},
		{func(s *Command) { s.Argv[0], s.Env = "closed", []string{"PATH=" + dir + ":/none"} },
			`exec "closed": permission denied`},
		{func(s *Command) { s.Argv[0] = noFormat },
			fmt.Sprintf("exec %q: exec format error", noFormat)},
		{func(s *Command) { s.Argv[0] = file("bad", "#!/no/such\n", 0o700) },
			fmt.Sprintf(`exec %q: its interpreter "/no/such": no such file or directory`,
				filepath.Join(dir, "bad"))},
		{func(s *Command) { s.Argv[0] = dir }, fmt.Sprintf("exec %q: permission denied", dir)},
		{func(s *Command) { s.Argv[1] = "a\x00b" }, `exec "echo": invalid argument`},
		{func(s *Command) { s.Argv[1] = strings.Repeat("x", 1<<20) },
			`exec "echo": argument list too long`},
		{func(s *Command) { s.Dir = "/no such" }, `chdir "/no such": no such file or directory`},
		{func(s *Command) { s.Dir = closed }, fmt.Sprintf("chdir %q: not a directory", closed)},
		{func(s *Command) { s.Log = "/no such/log" },
			`open log "/no such/log": no such file or directory`},
		{func(s *Command) { s.Log = dir }, fmt.Sprintf("open log %q: is a directory", dir)},
		{func(s *Command) { s.Log = link }, fmt.Sprintf("open log %q: too many levels of symbolic "+
			"links", link)},
		{func(s *Command) { s.Log = fifo }, fmt.Sprintf("open log %q: no such device or address",
			fifo)},
	} {
		s := command(t, "echo", "hello")
		c.change(&s)
		g := spawned(t, s)
		err := g.Release()
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if p := g.Process(); !process.Exited(p.PID, p.StartTicks) {
			t.Errorf("%s: the stage is still there", c.want)
		}

		proctest.MustBeReaped(t, g.Process().PID)
	}

	if g, err := Spawn(Command{}); err == nil || g != nil {
		t.Errorf("Spawn of nothing: %v, %v", g, err)
	}
}
