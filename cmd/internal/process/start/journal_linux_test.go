package start

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
)

// journal listens as systemd-journald does. It returns its socket, and what arrives until its
// writer has ended, of one stream after the other.
func journal(t *testing.T) (socket string, streams <-chan string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "journal") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "stdout")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })

	all := make(chan string, 8)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(conn)
			conn.Close()
			all <- string(text)
		}
	}()
	return socket, all
}

func next(t *testing.T, streams <-chan string) string {
	t.Helper()
	select {
	case text := <-streams:
		return text
	case <-time.After(time.Minute):
		t.Fatal("the journal got nothing")
		return ""
	}
}

// The journal gets the header that systemd-journald parses, and then both outputs of the command,
// which can find out where its output goes. So does the finish command, in a stream of its own.
func TestJournal(t *testing.T) {
	t.Parallel()
	socket, streams := journal(t)
	s := command(t, "sh", "-c", `echo out; echo "<3>err" >&2; stat -Lc "%d:%i" /proc/$$/fd/1; `+
		`echo $JOURNAL_STREAM; echo $A`)
	s.Log, s.Journal = socket, group.JournalName("shop", "db")
	s.Env = append(s.Env, "JOURNAL_STREAM=1:2", "A=b")
	s.Finish, s.FinishTimeout = []string{"sh", "-c", "echo $DPL_EXIT_STATUS"}, time.Minute
	g, _, complete := recordedStart(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}

	const header = "dpl/shop/db\n\n6\n1\n0\n0\n0\n"
	lines := strings.Split(strings.TrimPrefix(next(t, streams), header+"out\n<3>err\n"), "\n")
	if len(lines) != 4 || lines[0] == "" || lines[0] != lines[1] || lines[2] != "b" {
		t.Errorf("the command has written %q", lines)
	}
	if got := next(t, streams); got != header+"0\n" {
		t.Errorf("the finish command has written %q", got)
	}
	read(t, complete)
}

// Without a journal nothing is run, and the pass learns why.
func TestNoJournal(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "exit 7")
	s.Journal, s.Log = "dpl/g/a", filepath.Join(t.TempDir(), "stdout")
	if err := CheckJournal(s.Log); !errors.Is(err, ErrNoJournal) ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("CheckJournal: %v", err)
	}

	err := spawned(t, s).Release()
	if err == nil || !strings.Contains(err.Error(), "stdout\": no such file or directory") {
		t.Errorf("Release: %v", err)
	}

	socket, _ := journal(t)
	if err := CheckJournal(socket); err != nil {
		t.Errorf("with one, CheckJournal: %v", err)
	}
}
