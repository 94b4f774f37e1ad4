//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A Zombie is the outcome of a push on host a that was stopped while it held the lock, and
// continued when host b had made two more or had been refused. It stops between its read and its
// commit; with late, after the system call that commits. Its host is also cut off, except with
// pause.
type Zombie struct {
	Kind    string // pause, cut or late
	Verdict string
	Holder  string // how the stopped push ended
	Other   string // how the two of host b did
	Acked   int
	Lost    int
	WaitMs  int64 // how long host b waited for its first push
}

// stops is the system call after which the push stops. The first sync is between the read and the
// commit.
var stops = map[string]string{"pause": "fsync", "cut": "fsync",
	"late": "linkat,rename,renameat,renameat2"}

// zombie tries it.
func (r *rig) zombie(ledger, kind string) Zombie {
	z := Zombie{Kind: kind}
	trace := filepath.Join(r.scratch, fmt.Sprintf("trace-%s-%s-%d", r.commit, kind, os.Getpid()))
	held := make(chan answer, 1)
	argv := append([]string{}, r.enter[0]...)
	argv = append(argv, "strace", "-f", "-o", trace, "-e", "trace="+stops[kind], "-e",
		"inject="+stops[kind]+":signal=SIGSTOP:when=1",
		filepath.Join(r.bin, "dpl-push"), "--json", "--op", operation, "--call", kind+"-held", "--participant", "a")
	go func() { held <- execute(filepath.Join(r.dir[0], ledger), argv...) }()
	pid := stopped(trace, held)
	if pid == 0 {
		z.Verdict = "not run: the push did not stop"
		return z
	}

	if kind != "pause" {
		shell(r.cut)
	}

	other := []answer{r.otherPush(ledger, kind, 1), r.otherPush(ledger, kind, 2)}
	z.WaitMs = (other[0].end - other[0].start).Milliseconds()
	if kind != "pause" {
		shell(r.heal)
		r.reconnect()
	}

	a := resume(pid, held)
	open, _ := r.afterwards(ledger, kind+"-after")
	z.judge(a, other, open)

	return z
}

// otherPush makes one of host b's pushes. If only the command is stopped, its lock will not become
// free.
func (r *rig) otherPush(ledger, kind string, n int) answer {
	timeout := "2s"
	if kind != "pause" {
		timeout = "100s"
	}
	return r.command(1, ledger, "dpl-push", "--op", operation, "--call",
		fmt.Sprintf("%s-b%d", kind, n), "--participant", "b",
		"--lock-timeout", timeout)
}

var stopLine = regexp.MustCompile(`(?m)^(\d+) .*stopped by SIGSTOP`)

// stopped returns the pid of the traced push when it has stopped, 0 if it has not.
func stopped(trace string, held chan answer) (pid int) {
	poll.Within(30*time.Second, func() bool {
		data, _ := os.ReadFile(trace)
		if m := stopLine.FindSubmatch(data); m != nil {
			pid, _ = strconv.Atoi(string(m[1]))
		}
		return pid != 0 || len(held) > 0
	})

	if pid == 0 && len(held) > 0 {
		fmt.Printf("the push ended instead of stopping: %+v\n", <-held)
	}
	return pid
}

// resume has a stopped push go on, past further stops, and returns how it ended.
func resume(pid int, held chan answer) answer {
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		syscall.Kill(pid, syscall.SIGCONT)
		select {
		case a := <-held:
			return a
		case <-time.After(50 * time.Millisecond):
		}
	}

	syscall.Kill(pid, syscall.SIGKILL)
	return answer{status: -1, err: "it did not end in three minutes"}
}

// reconnect waits until host a can list the shared directory. A holder that continued earlier might
// fail without a network.
func (r *rig) reconnect() {
	argv := append(append([]string{}, r.enter[0]...), "ls", "-f", r.dir[0])
	poll.Within(time.Minute, func() bool { return execute("", argv...).status == 0 })
}

// judge counts the acknowledged pushes, and which of them are gone.
func (z *Zombie) judge(held answer, other []answer, open map[string]bool) {
	count := func(name string, a answer) string {
		if a.status != 0 {
			if open[name] {
				z.Verdict = "refused but there: " + name
			}
			return fmt.Sprintf("status %d", a.status)
		}

		z.Acked++
		if !open[name] {
			z.Lost++
		}
		return fmt.Sprintf("revision %d", a.edit().Revision)
	}

	z.Other = count(z.Kind+"-b1", other[0]) + ", " + count(z.Kind+"-b2", other[1])
	z.Holder = count(z.Kind+"-held", held)
	if held.status != 0 {
		z.Holder += ": " + held.text()
	}

	switch {
	case open == nil:
		z.Verdict = "no further edit is possible"
	case z.Lost > 0:
		z.Verdict = fmt.Sprintf("%d of %d lost", z.Lost, z.Acked)
	case z.Verdict != "":
	case z.Acked == 1 && held.status == 0:
		z.Verdict = "the lock holds"
	default:
		z.Verdict = fmt.Sprintf("0 of %d lost", z.Acked)
	}
}
