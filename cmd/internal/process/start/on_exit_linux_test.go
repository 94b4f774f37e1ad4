package start

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// says is what follows a start in these tests: a script that appends its pid, its session, its
// parent, what it finds, and what signals do, to the file out of its directory. It says so if it
// adopts an orphan.
const says = `n=0
	# Not through a pipe: the shell holds both ends for a moment. What it globbed with is closed.
	for fd in /proc/$$/fd/*; do [ ! -L $fd ] || n=$((n + 1)); done
	s="$$ $(cut -d' ' -f6 /proc/$$/stat) $PPID $PWD $(tr '\0' ' ' </proc/$$/environ)"
	s="$s $(readlink /proc/$$/fd/0 /proc/$$/fd/1 | tr '\n' ' ')$n"
	s="$s $(for n in HUP INT QUIT TERM; do sh -c "kill -$n \$\$"; echo $?; done 2>&1 |
		grep -E '^[0-9]+$' | tr '\n' ' ')"
	echo "$s" >>out
	orphan=$( (sh -c 'parent() { cut -d" " -f4 /proc/$$/stat; }
		i=0; while [ $((i += 1)) -lt 20 ] && [ "$(parent)" = $PPID ]; do :; done; parent' &) )
	[ "$orphan" != $$ ] || echo "adopts orphans" >>out`

// followed returns a released gate before script, after which the script says follows. lines
// returns the lines that it has written so far.
func followed(t *testing.T, last bool, script string) (g *Gate, complete string,
	lines func() []string) {
	t.Helper()
	s := command(t, "sh", "-c", script)
	dir := t.TempDir()
	s.OnExit = &Command{Argv: []string{"/bin/sh", "-c", says}, Dir: dir,
		Env: []string{"A=1", "PATH=/bin:/usr/bin"}}
	s.OnExitLast = last
	g, _, complete = recordedStart(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	return g, complete, func() []string {
		text, _ := os.ReadFile(filepath.Join(dir, "out"))
		return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
}

// What follows the end takes the place of the keeper.
func TestOnExit(t *testing.T) {
	t.Parallel()
	g, _, lines := followed(t, false, "exit 3")
	proctest.MustBeReaped(t, g.Keeper().PID)
	got := lines()
	want := fmt.Sprintf("%[1]d %[1]d ", g.Keeper().PID)
	if len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Fatalf("got %q, want one line with %s", got, want)
	}
	const rest = " A=1 PATH=/bin:/usr/bin  /dev/null /dev/null 3 129 130 131 143 "
	if !strings.HasSuffix(got[0], rest) {
		t.Errorf("got %s, want %s at its end", got[0], rest)
	}
}

// If the service leaves something behind, it follows at once as a process of its own, and when that
// has ended, again.
func TestOnExitOrphan(t *testing.T) {
	t.Parallel()
	for _, last := range []bool{false, true} {
		g, complete, lines := followed(t, last, "sleep 1000 & echo $! >orphan; exit 3")
		read(t, complete)
		proctest.MustBeReaped(t, g.Process().PID)
		first := ""
		if !last {
			poll.Until(t, "the first command", func() bool { return lines()[0] != "" })
			first = lines()[0]
			if name := process.Name(g.Keeper().PID); name != startKeeperName {
				t.Errorf("the last one did not wait: the keeper is %q", name)
			}
		}

		text, err := os.ReadFile(filepath.Join(g.start.Dir, "orphan"))
		if err != nil {
			t.Fatal(err)
		}
		var orphan int
		fmt.Sscan(string(text), &orphan)
		if lines()[0] != first {
			t.Errorf("while %d runs, there is %q", orphan, lines())
		}
		if err := unix.Kill(orphan, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}

		proctest.MustBeReaped(t, g.Keeper().PID)
		var pid, session, parent int
		fmt.Sscan(first, &pid, &session, &parent)
		if keeper := g.Keeper().PID; !last && (pid != session || pid == keeper || parent == keeper) {
			t.Errorf("the first is process %d in session %d, and a child of %d", pid, session, parent)
		}
		got, want := lines(), 2
		if last {
			want = 1
		}
		if len(got) != want {
			t.Errorf("%d commands followed, want %d", len(got), want)
		}
		if want := fmt.Sprint(g.Keeper().PID); !strings.HasPrefix(got[len(got)-1], want) {
			t.Errorf("the last is %s, not in place of the keeper, %s", got[len(got)-1], want)
		}
	}
}

// Nothing follows a start whose keeper was told to end, or one that has run nothing.
func TestOnExitNot(t *testing.T) {
	t.Parallel()
	g, complete, lines := followed(t, false, "exec sleep 1000")
	if err := unix.Kill(g.Keeper().PID, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(g.Process().PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	proctest.MustBeReaped(t, g.Keeper().PID)
	// Go tells of a signal a little later.
	x := read(t, complete)
	if !x.KeeperSignalled && os.Getenv(entryVariable) != "" || x.KeeperSignalled && lines()[0] != "" {
		t.Errorf("%+v, and %q followed", x, lines())
	}

	g, complete, lines = followed(t, true, "sleep 1000 & echo $! >orphan; exit 3")
	read(t, complete)
	proctest.MustBeReaped(t, g.Process().PID)
	if err := unix.Kill(g.Keeper().PID, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(g.start.Dir, "orphan"))
	if err != nil {
		t.Fatal(err)
	}
	var orphan int
	fmt.Sscan(string(text), &orphan)
	if err := unix.Kill(orphan, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	proctest.MustBeReaped(t, g.Keeper().PID)
	if lines()[0] != "" {
		t.Errorf("its keeper was told to end while an orphan ran, and %q followed", lines())
	}

	s := command(t, "true")
	dir := t.TempDir()
	s.OnExit = &Command{Argv: []string{"/bin/sh", "-c", says}, Dir: dir}
	g, _, _ = recordedStart(t, s)
	if err := g.Cancel(); err != nil {
		t.Fatal(err)
	}
	proctest.MustBeReaped(t, g.Keeper().PID)
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something followed a start that was cancelled")
	}
}

// A keeper whose command cannot be executed ends.
func TestOnExitFails(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "sleep 1000 & kill -KILL $!; exit 3")
	s.OnExit = &Command{Argv: []string{"/no/such"}, Dir: "/"}
	g, _, _ := recordedStart(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	proctest.MustBeReaped(t, g.Keeper().PID)
}
