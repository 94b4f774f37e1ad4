//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// fullDisk has a ledger on a disk that is full at every step of a call's life.
func fullDisk(w *world) {
	disk := filepath.Join(w.dir, "disk")
	w.must(os.Mkdir(disk, 0o700))
	w.must(syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k,mode=0700"))
	defer syscall.Unmount(disk, syscall.MNT_DETACH)

	w.ledger = filepath.Join(disk, "ledger")
	w.env = append(w.env, "DPL_LEDGER="+w.ledger)

	me := fmt.Sprint(os.Getpid())
	ballast := filepath.Join(disk, "ballast")
	may := []int{0, 71, 73, 74}
	const page = 4 << 10

	for free := range 12 {
		op := fmt.Sprint("op", free)
		steps := [][]string{
			{"dpl-push", "--op", op, "--call", "root", "--participant", "p", "--pid", me, "--tmp"},
			{"dpl-push", "--op", op, "--call", "work", "--participant", "p", "--pid", me},
			{"dpl-heartbeat", "--op", op, "--call", "work"},
			{"dpl-pop", "--op", op, "--call", "work"},
			{"dpl-pop", "--op", op, "--call", "root"},
		}

		for _, step := range steps {
			w.fill(disk, ballast, int64(free*page))
			r := w.exits(append(may, 66), step...)
			w.must(os.RemoveAll(ballast))
			if r.status != 0 {
				w.exits([]int{0, 76}, step...) // 76: it was made after all, or what it needs was not
			}
		}

		w.exits(ok, "dpl-status", "--op", op, "--check", "completed")
	}

	w.settle()
}

// fill leaves so many bytes of the disk.
func (w *world) fill(disk, ballast string, free int64) {
	var s syscall.Statfs_t
	w.must(syscall.Statfs(disk, &s))
	size := int64(s.Bavail)*s.Bsize - free
	if size > 0 {
		w.must(os.WriteFile(ballast, make([]byte, size), 0o600))
	}
}

// namespaces has calls of other pid and time namespaces in one ledger.
func namespaces(w *world) {
	inside := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if w.run(append(inside, "true")...).status != 0 {
		return // not allowed here
	}

	cmd := w.command(append(inside, "dpl-run", "--op", "space", "--staleness", "3s", "--", "sleep",
		"4001")...)
	w.must(cmd.Start())
	w.until("the call is open",
		func() bool {
			return w.run("dpl-status", "--op", "space", "--check",
				"running").status == 0
		})
	w.exits(ok, "dpl-cleanup")
	w.exits(ok, "dpl-status", "--op", "space", "--check", "running")
	cmd.Process.Kill()
	cmd.Wait()
	w.ended("space", "failed")

	later := []string{"unshare", "--time", "--boottime", "1000000", "--monotonic", "1000000",
		"--fork"}
	if w.run(append(later, "true")...).status == 0 {
		w.exits(ok, append(later, "dpl-run", "--op", "later", "--", "sh", "-c",
			"dpl-cleanup; dpl-run -- true")...)
		w.ended("later", "completed")
	}
}

// descriptors runs commands with each of the three standard descriptors closed or open.
func descriptors(w *world) {
	me := fmt.Sprint(os.Getpid())
	for closed := range 8 {
		redirect := ""
		for fd, word := range []string{"<&-", ">&-", "2>&-"} {
			if closed>>fd&1 == 1 {
				redirect += " " + word
			}
		}

		op := fmt.Sprint("op", closed)
		shell := func(line string) int {
			return w.exits(refusals, "sh", "-c",
				line+redirect).status
		}
		pushed := shell("dpl-push --op " + op + " --call root --participant p --pid " + me)
		if pushed == 0 && w.calls(op)["root"] == "" {
			w.fail("a push%s was acknowledged and is lost", redirect)
		}
		if pushed != 0 {
			w.exits(ok, "dpl-push", "--op", op, "--call", "root", "--participant", "p", "--pid", me)
		}

		shell("dpl-heartbeat --op " + op + " --call root")
		shell("dpl-status --op " + op)
		shell("dpl-cleanup")
		if status := w.run("sh", "-c",
			"dpl-run --op "+op+" -- true"+redirect).status; status > 127 {
			w.fail("dpl-run%s: %d", redirect, status)
		}

		w.exits(ok, "dpl-pop", "--op", op, "--call", "root")
		w.exits(ok, "dpl-status", "--op", op, "--check", "completed")
	}
}

// limits runs commands under limits of the kernel that they can hardly live with. A refused command
// must not change anything for a later push without limits.
func limits(w *world) {
	w.starve = true
	lines := []string{"ulimit -f 0"}
	for range 8 {
		lines = append(lines,
			fmt.Sprintf("ulimit -n %d", 8+w.intn(12)), fmt.Sprintf("ulimit -v %d",
				300_000+w.intn(2_500_000)), fmt.Sprintf("ulimit -s %d", 64+w.intn(512)))
	}

	me := fmt.Sprint(os.Getpid())
	for i, line := range lines {
		op := fmt.Sprint("op", i)
		push := "dpl-push --op " + op + " --call root --participant p --pid " + me
		if r := w.run("sh", "-c", line+"; "+push); r.status == 0 && w.calls(op)["root"] == "" {
			w.fail("a push was acknowledged and is lost: %v", r)
		}

		w.exits(ok, "sh", "-c", push)
		w.run("sh", "-c", line+"; dpl-run --op "+op+" -- true")
		w.run("sh", "-c", line+"; dpl-pop --op "+op+" --call root")
		w.run("dpl-pop", "--op", op, "--call", "root")
		w.over(op)
	}
}

// over waits until an operation is over, in either state.
func (w *world) over(op string) {
	w.until("the end of "+op, func() bool {
		w.exits([]int{0, 75}, "dpl-cleanup")
		return w.run("dpl-status", "--op", op, "--check", "terminal").status == 0
	})
}

// emptyEnvironment runs commands without PATH, HOME, or anything.
func emptyEnvironment(w *world) {
	bare := func(words ...string) []string { return append([]string{"env", "-i"}, words...) }
	run := filepath.Join(w.bin, "dpl-run")
	w.exits(ok, bare(run, "--ledger", w.ledger, "--op", "bare", "--", "/bin/true")...)
	w.ended("bare", "completed")
	w.exits([]int{127}, bare(run, "--ledger", w.ledger, "--op", "lost", "--", "no-such-program")...)
	w.exits([]int{64, 66, 73, 77, 78, 125}, bare(run, "--", "/bin/true")...)
	w.exits([]int{64, 66, 77, 78}, bare(filepath.Join(w.bin, "dpl-status"))...)
	w.exits([]int{0, 73, 125, 126}, bare("HOME=/nonexistent/home", run, "--ledger", w.ledger,
		"--op", "homeless", "--", "/bin/true")...)
}
