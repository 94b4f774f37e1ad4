//go:build linux

package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// calls are those that strace tells of: all that take a path or a descriptor.
const calls = "%file,%desc,flock,fsync"

// A call is a system call that the main thread of a command makes on something below its base.
type call struct {
	name     string
	k        int    // it is the kth of this name, counted from 1, with those on other things
	on       string // the paths, without what is random
	write    bool   // it opens a file to write, or makes it
	injected bool
}

func (c call) String() string { return fmt.Sprintf("%s/%d(%s)", c.name, c.k, c.on) }

// changes reports whether it changes something on disk, or who holds a lock.
func (c call) changes() bool {
	switch c.name {
	case "mkdirat", "linkat", "renameat", "renameat2", "unlinkat", "write", "fsync", "fdatasync", "fchmod", "ftruncate", "flock":
		return true
	}
	return c.write
}

// same does not compare k: looking at processes takes more calls or fewer.
func (c call) same(d call) bool { return c.name == d.name && c.on == d.on }

var (
	syscallLine = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)(\(| resumed>)(.*)`)
	randomName  = regexp.MustCompile(`(\.tmp~|\.dpl~|\.dpl-trash-|/L/tmp/[^/]+/|` +
		`/(?:restarts|exits)/[^/]+/[^/~]+~)[0-9a-f]{16}`)
	inDirectory = regexp.MustCompile(`\d+<([^>]*)>, "([^/"][^"]*)"`)
	opened      = regexp.MustCompile(`(\d+)<(/[^>]*)>`)
	throughFile = regexp.MustCompile(`"/proc/self/fd/(\d+)/`)
	returned    = regexp.MustCompile(`\) += .*`)
	writeFlags  = regexp.MustCompile(`O_CREAT|O_WRONLY|O_RDWR`)
)

// traced is a command that ran under strace.
type traced struct {
	result
	pid   string // of the command, for those who want to wake it
	calls []call
	text  string
}

// parse reads a trace. stops is how often the main thread of the command was stopped.
func (w *world) parse(text string) (pid string, found []call, stops int) {
	paths := regexp.MustCompile(regexp.QuoteMeta(w.base) + `(/[^">]*)?`)
	count := make(map[string]int)
	open := make(map[string]string) // the last known file of each descriptor
	last := -1                      // index of the call that is being made, if it is one to return

	for line := range strings.Lines(text) {
		if by, rest, _ := strings.Cut(line, " "); by == pid &&
			strings.HasPrefix(strings.TrimSpace(rest), "--- stopped by SIGSTOP") {
			stops++
		}

		m := syscallLine.FindStringSubmatch(line)
		if m == nil || pid != "" && m[1] != pid {
			continue
		}

		pid = m[1]
		for _, file := range opened.FindAllStringSubmatch(m[4], -1) {
			open[file[1]] = file[2]
		}

		if m[3] == "(" {
			last = -1
			count[m[2]]++
			args := inDirectory.ReplaceAllString(returned.ReplaceAllString(m[4], ""), `"$1/$2"`)
			args = throughFile.ReplaceAllStringFunc(args, func(path string) string {
				return `"` + open[throughFile.FindStringSubmatch(path)[1]] + "/"
			})

			if on := paths.FindAllString(args, -1); on != nil && m[2] != "epoll_ctl" { // which any thread of Go makes
				last = len(found)
				what := strings.ReplaceAll(randomName.ReplaceAllString(strings.Join(slices.Compact(on), " "), "$1*"), w.base, "")
				found = append(found, call{name: m[2], k: count[m[2]], on: what,
					write: writeFlags.MatchString(m[4])})
			}
		}

		if last >= 0 && strings.Contains(m[4], "(INJECTED)") {
			found[last].injected = true
		}
	}

	return pid, found, stops
}

// trace runs s under strace with these options.
func (w *world) trace(t *testing.T, s step, options ...string) traced {
	t.Helper()
	ctx, cancel := deadline()
	defer cancel()

	cmd, file := w.straced(ctx, t, s, ".trace", calls, options...)
	got := traced{result: runCommand(ctx, cmd)}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("strace %v: %v: %v", options, err, got)
	}

	got.text = string(data)
	got.pid, got.calls, _ = w.parse(got.text)

	return got
}

// straced returns the process, and the file for the trace of these calls. Other programs that a
// command starts are not traced.
func (w *world) straced(ctx context.Context, t *testing.T, s step, suffix, calls string,
	options ...string) (cmd *exec.Cmd, file string) {
	file = w.base + suffix
	if err := ignoreMissing(os.Remove(file)); err != nil {
		t.Fatal(err)
	}

	strace := []string{"strace", "-f", "-qq", "-y", "-s", "0", "-o", file, "-e", "trace=" + calls}
	if w.starts {
		strace = append(strace, "-b", "execve")
	}

	cmd = w.command(ctx, s, append(strace, options...)...)
	// With one processor, Go moves the work to another thread after each slow call.
	cmd.Env = append(cmd.Env, "GOMAXPROCS=2")
	if w.starts { // so it looks at other processes
		cmd.Env = append(cmd.Env, aheadVariable+"=1")
	}
	return cmd, file
}

// baseline returns the calls of s on the world in a run without faults, which must agree with the
// run before. It tries again if another thread made a call, or if there is one call more or less:
// such a run is rare, and not comparable.
func (w *world) baseline(t *testing.T, s step) traced {
	t.Helper()
	var last traced
	for range tries {
		w.reset(t)
		got := w.trace(t, s)
		if w.onMainThread(got) && slices.EqualFunc(got.calls, last.calls, call.same) {
			return got
		}
		last = got
	}

	t.Fatalf("%v: no two runs with the same calls, all by one thread; the last:\n%s", s, last.text)
	return last
}

// onMainThread reports whether the main thread makes all calls that matter. A child that is about
// to execute another program only moves descriptors.
func (w *world) onMainThread(got traced) bool {
	for line := range strings.Lines(got.text) {
		m := syscallLine.FindStringSubmatch(line)
		if m != nil && m[1] != got.pid && strings.Contains(line, w.base+"/") &&
			!slices.Contains([]string{"dup3", "fcntl", "close", "execve", "epoll_ctl"}, m[2]) {
			return false
		}
	}
	return len(got.calls) > 0
}
