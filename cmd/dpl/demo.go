package main

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/dpl-project/dpl/scripts/demo"
)

// demonstrate runs the demo with the commands beside this one, and returns its exit status.
func demonstrate(args []string) int {
	if len(args) > 0 {
		return fail(statusUsage, "demo: unexpected argument "+quote(args[0]))
	}

	push, err := find(program("push"))
	if err != nil {
		return fail(statusNoCommand, "demo: dpl-push is neither beside dpl nor in $PATH: install "+
			"it there")
	}

	shell, err := search("sh")
	if err != nil {
		return fail(statusNoCommand, "demo: it is a shell script, and there is no sh in $PATH")
	}

	dir, err := os.MkdirTemp("", "dpl-demo-files.")
	if err != nil {
		return fail(statusIO, "demo: "+err.Error())
	}
	defer os.RemoveAll(dir)

	if err := unpack(dir); err != nil {
		return fail(statusIO, "demo: "+err.Error())
	}

	status, err := runInFront(shell, filepath.Join(dir, demo.Script), filepath.Dir(push))
	if err != nil {
		return fail(statusCannotRun, "demo: "+err.Error())
	}

	return status
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
// sends it its own, and all others are passed on.
func runInFront(argv ...string) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	p, err := os.StartProcess(argv[0], argv,
		&os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
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
