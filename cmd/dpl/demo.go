package main

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/dpl-project/dpl/scripts/demo"
)

const demoUsage = `Usage: dpl demo [--all | ACT...] [--step]
       dpl demo --list

Show what DPL does when a process is killed.

Plays the first act, a nightly backup, which takes a few seconds, in a directory
of its own that is deleted at the end. ACT is the number of an act that shows
more; --all plays all acts, and --list lists them. On a terminal there is a pause before each step; with --step
the demo waits for a key: space or enter goes on, q quits.
`

// demonstrate runs the demo with the commands beside this one, and returns its exit status.
func demonstrate(args []string) int {
	for _, arg := range args {
		switch {
		case arg == "--help" || arg == "-h":
			return printResult(demoUsage)
		case arg == "--all" || arg == "--step" || arg == "--list" || isAct(arg):
		default:
			return fail(statusUsage, "demo: unexpected argument "+quote(arg)+": see dpl demo --help")
		}
	}

	if _, err := find(program("status")); err != nil {
		return fail(statusNoCommand, "demo: dpl-status is neither beside dpl nor in $PATH: "+
			"install it there")
	}

	shell, err := search("sh")
	if err != nil {
		return fail(statusNoCommand, "demo: it is a shell script, and there is no sh in $PATH")
	}

	removeOldDemos()
	dir, lock, err := demoDir()
	if err != nil {
		return fail(statusIO, "demo: "+err.Error())
	}
	defer os.RemoveAll(dir)
	defer lock.Close()

	bin, err := commandsFor(dir)
	if err == nil {
		err = unpack(dir)
	}
	if err != nil {
		return fail(statusIO, "demo: "+err.Error())
	}

	argv := append([]string{shell, filepath.Join(dir, demo.Script), bin}, args...)
	status, err := runInFront(argv, append(os.Environ(), "TMPDIR="+dir), lock)
	if err != nil {
		return fail(statusCannotRun, "demo: "+err.Error())
	}

	return status
}

// isAct reports whether arg is the number of an act.
func isAct(arg string) bool {
	n, err := strconv.Atoi(arg)
	return err == nil && n > 0
}

// unpack writes the files of the demo to dir. Some of them are executable.
func unpack(dir string) error {
	files, err := demo.Files.ReadDir(".")
	if err != nil {
		return err
	}

	for _, file := range files {
		content, err := demo.Files.ReadFile(file.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file.Name()), content, 0o700)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// runInFront runs a program until it ends, and returns its exit status, which is 128 plus the
// number for a signal. Signals that would end this process are left to the program: the terminal
// sends it its own, and all others are passed on. The program and what it starts hold the lock
// open.
func runInFront(argv, env []string, lock *os.File) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: env,
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, demo.LockFD: lock}})
	if err != nil {
		return 0, err
	}

	ended := make(chan struct{})
	defer close(ended)

	go func() {
		for {
			select {
			case s := <-signals:
				if s != os.Interrupt {
					p.Signal(s)
				}
			case <-ended:
				return
			}
		}
	}()

	state, err := p.Wait()
	if err != nil {
		return 0, err
	}
	if exited := state.ExitCode(); exited >= 0 {
		return exited, nil
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}

	return 0, errors.New(state.String())
}
