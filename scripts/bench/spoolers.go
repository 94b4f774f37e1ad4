//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// blocker is the command behind which all tasks of a spooler wait.
var blocker = []string{"sleep", "1d"}

// tspPool is a server of task-spooler, whose only slot is taken.
func (b *bench) tspPool(place string, waiting int) (*pool, error) {
	p := &pool{by: b.starter.with("TS_SOCKET="+filepath.Join(b.work, place),
		"TS_MAXFINISHED=10", "TMPDIR="+b.work)}
	tsp := func(words ...string) []string { return append([]string{b.tools.tsp}, words...) }
	do := func(words ...string) error {
		_, err := p.by.time(tsp(words...))
		return err
	}

	add := tsp("-n", b.tools.true)
	p.enqueue = func(int) []string { return add }
	p.undo = func() error { return do("-r") }
	p.close = func() { _, _ = do("-k", "0"), do("-K") }
	p.loop = shell(tsp("-k", "0")) + " && " + shell(tsp("-S", strconv.Itoa(drainers))) + " && " +
		shell(tsp("-w"))

	err := do(append([]string{"-n"}, blocker...)...)
	for i := 0; i < waiting && err == nil; i++ {
		err = do(add[1:]...)
	}
	return p, err
}

// nqPool is a directory of nq, with a task that does not end.
func (b *bench) nqPool(place string, waiting int) (*pool, error) {
	dir := filepath.Join(b.work, place)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}

	p := &pool{by: b.starter.with("NQDIR=" + dir)}
	nq := func(words ...string) []string { return append([]string{b.tools.nq}, words...) }
	add := nq(b.tools.true)
	p.enqueue = func(int) []string { return add }
	p.undo = func() error {
		_, err := spooled(dir, waiting+2)
		return errors.Join(err, killLast(dir))
	}
	p.close = func() {
		for killLast(dir) == nil {
		}
	}

	_, err := p.by.time(nq(blocker...))
	if err == nil {
		var first []string
		if first, err = spooled(dir, 1); err == nil {
			p.loop = fmt.Sprintf("kill %d && %s -w", pidOf(first[0]), shell(nq()))
		}
	}
	for i := 0; i < waiting && err == nil; i++ {
		if _, err = p.by.time(add); err == nil {
			_, err = spooled(dir, i+2) // their times may be equal
		}
	}
	return p, err
}

// spooled waits until nq has at least so many files, which it makes in the background, and returns
// their names in the order of their tasks: a comma, a time and the number of the process. Those of
// tasks that have not ended are executable.
func spooled(dir string, least int) (names []string, err error) {
	enough := poll.Within(patience, func() bool {
		names, err = filepath.Glob(filepath.Join(dir, ",*"))
		return err != nil || len(names) >= least
	})
	slices.Sort(names)
	if err == nil && !enough {
		err = fmt.Errorf("nq has %d tasks; want %d", len(names), least)
	}
	return names, err
}

func pidOf(name string) int {
	pid, _ := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	return pid
}

// killLast ends the last task in a directory of nq, and removes its file. It returns once the
// process is gone. It is an error if there is none.
func killLast(dir string) error {
	names, err := spooled(dir, 0)
	if err != nil || len(names) == 0 {
		return errors.Join(err, os.ErrNotExist)
	}

	last := names[len(names)-1]
	info, err := os.Stat(last)
	if err != nil {
		return err
	}
	pid := pidOf(last)
	if info.Mode()&0o100 == 0 { // it has ended, and its pid may be that of another process
		return os.Remove(last)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return err
	}
	gone := poll.Within(patience, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	if !gone {
		return fmt.Errorf("process %d of nq does not end", pid)
	}
	return os.Remove(last)
}
