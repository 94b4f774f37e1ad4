//go:build linux

package testscripts

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/scripts/upstream"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// luaCC is a compiler that notes for which task it has made something, and hangs the first time
// that it compiles lcode.c.
const luaCC = `#!/bin/sh
if [ "$DPL_TASK" = cc:lcode ] && [ ! -e "$FARM/hangs" ]; then
    echo $$ >"$FARM/hangs.new" && mv "$FARM/hangs.new" "$FARM/hangs"
    exec sleep 1000
fi
PATH=$REAL cc "$@" && echo "$DPL_TASK" >>"$FARM/made"
`

// TestBuildLua builds the real Lua by nothing but the line in the crontab of build-lua.sh, run as
// cron runs it. One source is broken until it is repaired, the worker is killed while a compiler
// hangs, and then what runs that compiler.
func TestBuildLua(t *testing.T) {
	t.Parallel()
	strict.Program(t, "cc")
	f := &farm{t: t, bin: built(t), dir: t.TempDir()}
	if err := upstream.Lua(filepath.Join(f.dir, "lua")); errors.Is(err, upstream.ErrMissing) {
		strict.Skip(t, err.Error())
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(f.queue("lua").Encode())
		}
		proc.EndAll(f.dir)
	})

	if err := os.Mkdir(filepath.Join(f.dir, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.dir, "tools", "cc"), luaCC, 0o755)
	write(t, filepath.Join(f.dir, "build-lua.sh"), read(t, "scripts/examples/build-lua.sh"), 0o755)
	poisoned := filepath.Join(f.dir, "lua/src/ltm.c")
	good, err := os.ReadFile(poisoned)
	if err != nil {
		t.Fatal(err)
	}
	write(t, poisoned, "#error poison\n", 0o644)

	const enqueue = "CFLAGS=-O0 build-lua.sh lua"
	tasks := strings.Fields(f.sh(enqueue))
	if sources := len(f.sources()); sources < 30 || len(tasks) != sources+4 {
		t.Fatalf("%d tasks for %d sources: %q", len(tasks), sources, tasks)
	}

	crontab := crontabLine(t, "build-lua.sh")
	state := func(task string) queue.TaskState {
		if found := f.queue("lua").Task(task); found != nil {
			return found.State
		}
		return "ended"
	}

	// The worker dies with its process group, and its attempts go on. The lines of the next
	// minutes do all that does not wait for the compiler that hangs, or for the poison.
	worker := f.start(crontab)
	poll.Until(t, "a compiler hangs", func() bool { return f.text("hangs") != "" })
	syscall.Kill(-worker.Process.Pid, syscall.SIGKILL)
	worker.Wait()
	f.minutes(crontab, "all but two are compiled", func() bool {
		return f.queue("lua").Counters.Done == int64(len(tasks)-6) && state("cc:ltm") == queue.Dead
	})
	if got := state("cc:lcode"); got != queue.Claimed {
		t.Fatalf("the task of the compiler that hangs is %s: its attempt has died with the worker", got)
	}
	if got := state("ar"); got != queue.Waiting {
		t.Errorf("the library is %s, want %s for its objects", got, queue.Waiting)
	}
	if why := f.sh("dpl-status --queue lua --why cc:ltm"); !strings.Contains(why, "#error poison") {
		t.Errorf("the reason of the dead task is %q, want the message of the compiler", why)
	}

	// The attempt dies as well, and its keeper ends the compiler.
	compiler, _ := strconv.Atoi(strings.TrimSpace(f.text("hangs")))
	syscall.Kill(-f.queue("lua").Task("cc:lcode").Claim.PID, syscall.SIGKILL)
	poll.Until(t, "the compiler ends", func() bool {
		_, alive := proc.StartTicks(compiler)
		return !alive
	})
	write(t, poisoned, string(good), 0o644)
	f.sh("dpl-enqueue lua --dead")
	f.minutes(crontab, "Lua is built", func() bool { return f.queue("lua").Idle() })

	version := f.sh("lua/src/lua -e 'print(_VERSION)'")
	if version != "Lua 5.4\n" || version != f.text("lua/src/version") {
		t.Errorf("it is %q, and %q in the file", version, f.text("lua/src/version"))
	}
	f.onceEach(tasks)

	// A second time, there is nothing to do.
	revision := f.queue("lua").Revision
	f.sh(enqueue)
	f.start(crontab).Wait()
	if got := f.queue("lua").Revision; got != revision {
		t.Errorf("building it again makes %d edits", got-revision)
	}
}

// onceEach checks that each task has ended as done, and that the compiler has made its file once.
func (f *farm) onceEach(tasks []string) {
	f.t.Helper()
	q := f.queue("lua")
	ended := make(map[string]int)
	for _, e := range q.Ended {
		if e.End == queue.EndedDone {
			ended[e.ID]++
		}
	}
	for _, task := range tasks {
		if ended[task] != 1 {
			f.t.Errorf("%s is done %d times", task, ended[task])
		}
	}

	// What the compiler makes, besides the archiver and Lua itself.
	made := strings.Fields(f.text("made"))
	slices.Sort(made)
	want := slices.DeleteFunc(slices.Sorted(slices.Values(tasks)), func(task string) bool {
		return task == "ar" || task == "test"
	})
	if !slices.Equal(made, want) {
		f.t.Errorf("the compiler has made %q, want each once of %q", made, want)
	}

	ends := make(map[queue.End]int64)
	for _, e := range q.Counters.Ends {
		ends[e.End] = e.Count
	}
	if want := map[queue.End]int64{
		queue.Done: int64(len(tasks)), queue.Failed: 3, queue.Crashed: 1,
	}; !maps.Equal(ends, want) {
		f.t.Errorf("attempts ended as %v, want %v", ends, want)
	}
}

// leaves is what a worker says that had to leave tasks.
var leaves = regexp.MustCompile(`^dpl-work: lua: (\d+ (dead|held by others|waiting)[^,:]*(:l[^,:]*)?(, )?)+: `)

// minutes runs the line of a crontab again and again, as cron does each minute, until is reports
// true. All that cron may mail is that a worker had to leave tasks.
func (f *farm) minutes(crontab, what string, is func() bool) {
	f.t.Helper()
	poll.Until(f.t, what, func() bool {
		said := f.sh(crontab + " || [ $? = 1 ]")
		for line := range strings.Lines(said) {
			if !leaves.MatchString(line) {
				f.t.Fatalf("cron would mail %q", said)
			}
		}
		return is()
	})
}

func (f *farm) sources() []string {
	all, err := filepath.Glob(filepath.Join(f.dir, "lua/src/*.c"))
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func (f *farm) text(name string) string {
	text, _ := os.ReadFile(filepath.Join(f.dir, name))
	return string(text)
}
