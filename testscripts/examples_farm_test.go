//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// farmCC is a compiler that notes what it makes, and is slow.
const farmCC = `#!/bin/sh
for last; do :; done
echo "$last" >>"$FARM/began"
sleep 0.2
PATH=$REAL cc "$@" && echo "$last" >>"$FARM/made"
`

// TestFarm builds a program through a queue by nothing but the line in the crontab of farm.sh, run
// as cron runs it, while everything that works on it is killed again and again.
func TestFarm(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no cc")
	}

	f := &farm{t: t, bin: built(t), dir: t.TempDir()}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := os.ReadFile(filepath.Join(f.dir, "out"))
			logs, _ := exec.Command("sh", "-c", "tail -n 9 "+f.dir+"/ledger/queues/tasks/farm/*.log").CombinedOutput()
			t.Logf("%s\n%s\n%s", f.queue("farm").Encode(), out, logs)
		}
		proc.EndAll(f.dir)
	})
	f.write()
	crontab := crontabLine(t, "farm.sh")
	f.sh("farm.sh src")
	tasks := len(f.queue("farm").Tasks)
	if tasks != 7 {
		t.Fatalf("%d tasks, want 7", tasks)
	}

	for minute := 0; ; minute++ {
		if minute == 1000 {
			t.Fatalf("it is not built after %d minutes", minute)
		}

		began, line, over := f.lines("began"), f.start(crontab), make(chan struct{})
		go func() {
			line.Wait()
			close(over)
		}()

		// Like a power cut, as far as processes go. Those who come right after it may find all
		// slots taken, while the keepers of the killed are still there.
		poll.Until(t, "the workers end, or compile something", func() bool {
			select {
			case <-over:
				return true
			default:
				return f.cuts < 4 && f.lines("began") > began
			}
		})
		if f.cuts < 4 && f.lines("began") > began {
			f.cuts++
			proc.EndAll(f.dir)
		}
		<-over
		if f.queue("farm").Idle() {
			break
		}
	}

	if out := f.sh("src/program"); out != "1 2 3 4 5 6\n" {
		t.Errorf("the program says %q", out)
	}
	q := f.queue("farm")
	if got := q.Counters.Done; got != int64(tasks) || len(q.Tasks) != 0 {
		t.Errorf("%d tasks are done, want %d; left: %s", got, tasks, q.Encode())
	}

	// Nothing has changed, so nothing is compiled again; then one file has.
	before := f.lines("began")
	f.sh("farm.sh src")
	f.start(crontab).Wait()
	if got := f.lines("began"); got != before {
		t.Errorf("compiled %d times more, although nothing has changed", got-before)
	}
	write(t, filepath.Join(f.dir, "src", "f3.c"), "int f3(void) { return 33; }\n", 0o644)
	f.sh("farm.sh src")
	f.start(crontab).Wait()
	if got := f.lines("began"); got != before+2 {
		t.Errorf("compiled %d times after a change of one file, want 2", got-before)
	}
	if out := f.sh("src/program"); out != "1 2 33 4 5 6\n" {
		t.Errorf("the program says %q", out)
	}
}

// farm is a directory with a program to build.
type farm struct {
	t        *testing.T
	bin, dir string
	cuts     int
}

func (f *farm) write() {
	src := filepath.Join(f.dir, "src")
	for _, dir := range []string{src, filepath.Join(f.dir, "tools")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			f.t.Fatal(err)
		}
	}

	calls, declared := "", ""
	for i := 1; i < 6; i++ {
		write(f.t, filepath.Join(src, fmt.Sprintf("f%d.c", i)),
			fmt.Sprintf("int f%d(void) { return %d; }\n", i, i), 0o644)
		declared += fmt.Sprintf("int f%d(void);\n", i)
		calls += fmt.Sprintf("printf(\"%%d \", f%d()); ", i)
	}
	write(f.t, filepath.Join(src, "main.c"), "#include <stdio.h>\n"+declared+
		"int main(void) { "+calls+"puts(\"6\"); return 0; }\n", 0o644)
	write(f.t, filepath.Join(f.dir, "tools", "cc"), farmCC, 0o755)

	// Each of these deaths is a crash that counts; a real power cut is not.
	const once, often = "--max-attempts 3 --backoff 0,30s", "--max-attempts 30 --backoff 0"
	script := read(f.t, "scripts/examples/farm.sh")
	if !strings.Contains(script, once) {
		f.t.Fatalf("farm.sh does not say %s", once)
	}
	write(f.t, filepath.Join(f.dir, "farm.sh"), strings.ReplaceAll(script, once, often), 0o755)
}

// crontabLine returns the command of the line of a crontab in an example.
func crontabLine(t *testing.T, example string) string {
	found := regexp.MustCompile(`(?m)^#\t\* \* \* \* \* (.*)$`).
		FindStringSubmatch(read(t, "scripts/examples/"+example))
	if found == nil {
		t.Fatalf("%s has no line of a crontab", example)
	}
	return found[1]
}

// start starts a command as cron does: with what a crontab sets, and little else. REAL is the PATH
// of the compiler.
func (f *farm) start(command string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir = f.dir
	cmd.Env = []string{"PATH=" + filepath.Join(f.dir, "tools") + ":" + f.bin + ":" + f.dir +
		":" + os.Getenv("PATH"), "HOME=" + f.dir, "SHELL=/bin/sh", "REAL=" + os.Getenv("PATH"),
		"FARM=" + f.dir, "DPL_LEDGER=" + filepath.Join(f.dir, "ledger")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.OpenFile(filepath.Join(f.dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return cmd
}

// sh runs a command, which must succeed, and returns its output.
func (f *farm) sh(command string) string {
	f.t.Helper()
	os.Remove(filepath.Join(f.dir, "out"))
	cmd := f.start(command)
	err := cmd.Wait()
	out, _ := os.ReadFile(filepath.Join(f.dir, "out"))
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (f *farm) queue(id string) queue.Queue {
	f.t.Helper()
	l, err := fileops.Open(filepath.Join(f.dir, "ledger"), fileops.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	q, err := l.ReadQueue(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return q
}

func (f *farm) lines(file string) int {
	text, _ := os.ReadFile(filepath.Join(f.dir, file))
	return strings.Count(string(text), "\n")
}
