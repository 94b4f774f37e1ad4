//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/scripts/upstream"
)

// pushes makes a crowd push and pop calls, and kills many of its processes. Every acknowledged edit
// must be there.
func pushes(w *world) {
	const n, atOnce = 100, 16
	me := fmt.Sprint(os.Getpid())
	push := func(call string) []string {
		return []string{"dpl-push", "--op", "crowd", "--call", call, "--participant", "crowd",
			"--pid", me}
	}

	w.exits(ok, push("root")...)

	acknowledged := make([]bool, n)
	killed := make([]bool, n)
	w.together(n, atOnce, func(i int) {
		acknowledged[i], killed[i] = w.perhapsKilled(push(fmt.Sprint("call", i))...)
	})

	open := w.calls("crowd")
	for i := range n {
		_, there := open[fmt.Sprint("call", i)]
		if acknowledged[i] && !there {
			w.fail("call%d was acknowledged and is lost", i)
		}
		if there && !acknowledged[i] && !killed[i] {
			w.fail("call%d was refused and is there", i)
		}
	}

	gone := make([]bool, n)
	w.together(n, atOnce, func(i int) {
		call := fmt.Sprint("call", i)
		if open[call] != "" {
			gone[i], _ = w.perhapsKilled("dpl-pop", "--op", "crowd", "--call", call)
		}
	})

	open = w.calls("crowd")
	for i := range n {
		if gone[i] && open[fmt.Sprint("call", i)] != "" {
			w.fail("the pop of call%d was acknowledged, and it is there", i)
		}
	}

	for call := range open {
		if call != "root" {
			w.exits(ok, "dpl-pop", "--op", "crowd", "--call", call)
		}
	}

	w.exits(ok, "dpl-pop", "--op", "crowd", "--call", "root")
	w.exits(ok, "dpl-status", "--op", "crowd", "--check", "completed")
}

// perhapsKilled runs an edit, and kills it at some moment in one of three cases. It reports whether
// the edit was acknowledged, and whether it was killed.
func (w *world) perhapsKilled(words ...string) (acknowledged, killed bool) {
	cmd := w.command(words...)
	if w.intn(3) == 0 {
		after := time.Duration(w.intn(60)) * time.Millisecond
		timer := time.AfterFunc(after, func() {
			if cmd.Process != nil {
				cmd.Process.Kill()
			}
		})
		defer timer.Stop()
	}

	switch r := w.finish(cmd, words); r.status {
	case 0:
		return true, false
	case 75, 124:
		return false, false
	case 128 + int(syscall.SIGKILL):
		return false, true
	default:
		w.fail("%v", r)
		return false, false
	}
}

// xargs runs hundreds of calls, 64 at a time.
func xargs(w *world) {
	n := 100 + w.intn(501)
	w.exits(ok, "dpl-run", "--op", "xargs", "--", "sh", "-c",
		fmt.Sprintf("seq %d | xargs -P 64 -n 1 dpl-run -- true", n))
	w.ended("xargs", "completed")
}

// ended waits until an operation is over, and in which state.
func (w *world) ended(op, state string) {
	w.over(op)
	w.exits(ok, "dpl-status", "--op", op, "--check", state)
}

// builds builds a program of many files, each compiled by a call, while something is killed.
func builds(w *world) {
	const files = 30
	var objects, sum []string
	for i := range files {
		name := fmt.Sprintf("f%d", i)
		w.write(name+".c", fmt.Sprintf("#include \"all.h\"\nint %s(void) { return %d; }\n", name,
			i))
		objects = append(objects, name+".o")
		sum = append(sum, name+"()")
	}

	w.write("all.h", "int "+strings.Join(sum, ", ")+";\n")
	w.write("all.h", strings.ReplaceAll("int "+strings.Join(sum, ", ")+";\n", "()", "(void)"))
	w.write("main.c", "#include <stdio.h>\n#include \"all.h\"\nint main(void) { printf(\"%d\\n\", "+strings.Join(sum, " + ")+"); return 0; }\n")
	w.write("Makefile", "program: main.o "+strings.Join(objects, " ")+
		"\n\tdpl-run -- cc -o $@.part $^ && mv $@.part $@\n%.o: %.c all.h\n"+
		"\tdpl-run -- cc -c -o $@.part $< && mv $@.part $@\n")

	w.build(w.dir)
	if r := w.exits(ok, "./program"); r.stdout != fmt.Sprintf("%d\n", files*(files-1)/2) {
		w.fail("the program prints %q", r.stdout)
	}
}

// zlib builds the zlib of others, whose Makefile knows nothing of calls, while something is killed.
func zlib(w *world) {
	dir := filepath.Join(w.dir, "zlib")
	if _, err := upstream.Zlib(dir); err != nil {
		w.fail("the rig: %v", err)
	}

	w.build(dir, "CC=dpl-run --ok 0,1 -- cc")
	r := w.exits(ok, "sh", "-c", "zlib/minigzip <zlib/deflate.c | zlib/minigzip -d | cmp - "+
		"zlib/deflate.c")
	if r.stdout+r.stderr != "" {
		w.fail("it does not work: %v", r)
	}
}

// build makes what the Makefile in dir says, at first while something is killed.
func (w *world) build(dir string, arguments ...string) {
	const rounds = 4
	for round := range rounds {
		op := fmt.Sprint("build", round)
		words := append([]string{"dpl-run", "--op", op, "--", "make", "-s", "-j4", "-C", dir},
			arguments...)
		quiet := make(chan struct{})
		last := round == rounds-1
		if !last {
			go w.strike(quiet, "dpl-run", "make", "cc", "dpl-keeper")
		}

		r := w.run(words...)
		close(quiet)
		w.until("the build has ended", func() bool { return len(w.processes()) == 0 })

		switch {
		case r.status == 0:
			w.ended(op, "completed")
		case r.status == 128+int(syscall.SIGKILL) && w.run("dpl-status", "--op", op).status == 66:

			// It was killed before its push.
		default:
			w.ended(op, "failed")
		}

		if last && r.status != 0 {
			w.fail("a build that nobody disturbed failed: %v", r)
		}

		w.removeCompilerFiles()
	}
}

// strike kills up to three processes, or all of a kind at once, until quiet is closed.
func (w *world) strike(quiet <-chan struct{}, words ...string) {
	for range w.intn(4) {
		select {
		case <-quiet:
			return
		case <-time.After(time.Duration(50+w.intn(600)) * time.Millisecond):
			word := words[w.intn(len(words))]
			if w.intn(5) > 0 {
				w.killOne(word)
				continue
			}
			for w.killOne(word) && w.ctx.Err() == nil {
			}
		}
	}
}

func (w *world) write(name, text string) {
	w.must(os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

// removeCompilerFiles removes what compilers that were killed have left, which is not ours.
func (w *world) removeCompilerFiles() {
	names, _ := filepath.Glob(filepath.Join(w.dir, "tmp", "cc*"))
	for _, name := range names {
		os.Remove(name)
	}
}

// jobserver has a call be a make that shares the jobs of the one above.
func jobserver(w *world) {
	w.must(os.Mkdir(filepath.Join(w.dir, "sub"), 0o700))
	w.write("Makefile", "all:\n\t+dpl-run -- $(MAKE) -C sub all\n")
	w.write("sub/Makefile", "all: 1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8:\n\t@dpl-run -- sh -c 'echo "+
		"done >$@'\n")
	r := w.exits(ok, "dpl-run", "--op", "jobs", "--", "make", "-j3")
	if strings.Contains(r.stdout+r.stderr, "jobserver") {
		w.fail("make tells of its jobserver: %v", r)
	}

	for i := range 8 {
		if _, err := os.Stat(filepath.Join(w.dir, "sub", fmt.Sprint(i+1))); err != nil {
			w.fail("%v: %v", err, r)
		}
	}

	w.ended("jobs", "completed")
}

// groupDeath kills the process group of a root call that has many processes below it.
func groupDeath(w *world) {
	const nested = 15
	cmd := w.command("dpl-run", "--op", "tree", "--", "sh", "-c",
		fmt.Sprintf("for i in $(seq %d); do dpl-run -- sh -c 'sleep 1001 & sleep 1002 & sleep "+
			"1003' & done; wait", nested))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.must(cmd.Start())
	file := filepath.Join(w.ledger, "operations", "tree.json")
	w.until("all calls are open", func() bool {
		_, err := os.Stat(file)
		return err == nil && len(w.calls("tree")) == nested+1
	})

	if w.intn(2) == 0 {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	} else {
		for range 1 + w.intn(nested) {
			w.killOne("dpl-run --")
		}
		cmd.Process.Kill()
	}

	cmd.Wait()
	w.ended("tree", "failed")
}
