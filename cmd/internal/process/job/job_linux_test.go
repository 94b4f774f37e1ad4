package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// startJob starts a shell script, whose $0 is a directory. The end of the test kills and closes the
// job.
func startJob(t *testing.T, script string) (*Job, string) {
	t.Helper()
	dir := t.TempDir()
	j, err := Start("/bin/sh", []string{"sh", "-c", "cd \"$0\"; " + script, dir}, os.Environ(),
		nil, NewKeeper(process.NewStartID(), time.Second))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		j.Signal(syscall.SIGKILL)
		j.Close()
	})
	return j, dir
}

// withAndWithoutHandle tests also what is done where the kernel cannot signal a group by a handle.
func withAndWithoutHandle(t *testing.T, test func(t *testing.T,
	start func(script string) (*Job, string))) {
	t.Parallel()
	for _, handle := range []bool{true, false} {
		t.Run(fmt.Sprintf("handle=%v", handle), func(t *testing.T) {
			t.Parallel()
			test(t, func(script string) (*Job, string) {
				t.Helper()
				j, dir := startJob(t, "until [ -e begin ]; do sleep 0.01; done; "+script)
				j.mu.Lock()
				if handle && j.group.handle < 0 {
					t.Log("this kernel has no handles for groups")
				}
				if !handle {
					j.group.close()
				}

				j.mu.Unlock()
				if err := proc.WriteProgram(filepath.Join(dir, "begin"), nil, 0o600); err != nil {
					t.Fatal(err)
				}

				return j, dir
			})
		})
	}
}

func mustClose(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	poll.Until(t, what, func() bool { return closed(c) })
}

// pids returns the numbers in a file that a job is about to write.
func pids(t *testing.T, path string) []int {
	t.Helper()
	var found []int
	poll.Until(t, path, func() bool {
		content, _ := os.ReadFile(path)
		if !strings.HasSuffix(string(content), "\n") {
			return false
		}

		for _, word := range strings.Fields(string(content)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, pid)
		}

		return true
	})

	return found
}

func TestJobStatus(t *testing.T) {
	withAndWithoutHandle(t, func(t *testing.T, start func(string) (*Job, string)) {
		for _, c := range []struct {
			script string
			code   int
			signal syscall.Signal
		}{
			{"exit 0", 0, 0},
			{"exit 7", 7, 0},
			{"exit 255", 255, 0},
			{"kill -TERM $$", 0, syscall.SIGTERM},
			{"kill -INT $$", 0, syscall.SIGINT},
			{"kill -KILL $$", 0, syscall.SIGKILL},
			{"ulimit -c 0; kill -SEGV $$", 0, syscall.SIGSEGV},
		} {
			j, _ := start(c.script)
			got, want := j.End(), End{Code: c.code, Signal: c.signal}
			got.Dumped = false // some systems dump core whatever the limit
			if got.MaxRSS <= 0 {
				t.Errorf("%s: no memory was used: %+v", c.script, got)
			}
			got.CPU, got.MaxRSS = 0, 0
			if got != want {
				t.Errorf("%s: got %+v, want %+v", c.script, got, want)
			}
			mustBeOver(t, j)
		}
	})
}

func mustBeOver(t *testing.T, j *Job) {
	t.Helper()
	mustClose(t, "Ended", j.Ended())
	mustClose(t, "Empty", j.Empty())
	proctest.MustBeReaped(t, j.PID())
	if got := j.Left(); got != nil {
		t.Errorf("left %v", got)
	}

	for _, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if err := j.Signal(sig); err != process.ErrNoProcess {
			t.Errorf("Signal: %v, want ErrNoProcess", err)
		}
	}

	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != os.ErrClosed {
		t.Errorf("Close again: %v, want os.ErrClosed", err)
	}
	if err := j.Signal(syscall.SIGTERM); err != os.ErrClosed {
		t.Errorf("Signal after Close: %v, want os.ErrClosed", err)
	}
}

// TestScriptWithoutInterpreter checks that sh runs a text without #!, as a shell would, whatever
// its name.
func TestScriptWithoutInterpreter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, status := range map[string]int{"script": 0, "-c": 0, "empty": 0, "fails": 7} {
		text := "[ \"$1\" = word ] && [ -z \"$2\" ] || exit 3\n"
		switch name {
		case "empty":
			text = ""
		case "fails":
			text += "exit 7\n"
		}

		path := filepath.Join(dir, name)
		if err := proc.WriteProgram(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}

		j, err := Start(path, []string{"other name", "word"}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}

		<-j.Empty()
		if got := j.End(); got.Code != status || got.Signal != 0 {
			t.Errorf("%s: got %+v, want code %d", name, got, status)
		}

		j.Close()
	}
}

// TestMissingInterpreter: it is named, since the file itself is there.
func TestMissingInterpreter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script")
	if err := proc.WriteProgram(path, []byte("#! /no/such/shell -e\necho\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	_, err := Start(path, []string{"a"}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
	if want := `its interpreter "/no/such/shell": no such file or directory`; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestJobFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := proc.WriteProgram(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}

	for _, c := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "no such"), fs.ErrNotExist},
		{file("interpreter", "#!/no such\n", 0o700), fs.ErrNotExist},
		{file("closed", "#!/bin/sh\n", 0o600), fs.ErrPermission},
		{dir, fs.ErrPermission},
		{file("noformat", "echo\x00", 0o700), syscall.ENOEXEC},
	} {
		j, err := Start(c.path, []string{"a"}, nil, nil, NewKeeper(process.NewStartID(), time.Second))
		if !errors.Is(err, c.want) || j != nil {
			t.Errorf("%s: got %v, want %v", c.path, err, c.want)
		}
	}
}
