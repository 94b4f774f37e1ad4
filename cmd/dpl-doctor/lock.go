package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops"
)

const (
	helperName = "dpl-doctor-helper"
	helperFlag = "--dpl-doctor-helper"
	patience   = 10 * time.Second // for an answer of the helper
	atOnce     = 2 * time.Second  // after its death
)

// The answers of a helper.
const (
	held    = "held"
	refused = "refused"
)

// holdLock returns at once unless this process is the helper of a doctor. A helper tries to take a
// lock, prints the result, and holds the lock until the end of its stdin.
func holdLock() {
	if len(os.Args) != 3 || os.Args[0] != helperName || os.Args[1] != helperFlag {
		return
	}

	_, err := fileops.TryLock(os.Args[2])
	switch {
	case err == nil:
		fmt.Println(held)
	case errors.Is(err, fileops.ErrBusy):
		fmt.Println(refused)
	default:
		fmt.Println(err)
	}

	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// exclusion tries the lock with two processes.
func (p *checkup) exclusion() []finding {
	err := p.inScratch(func(s *fileops.Scratch) error { return exclude(s.LockFile(), startHelper) })
	return p.judged(err, "edits would be lost: put the ledger on a file system with flock(2)")
}

// A helper is another process that tries to take the lock.
type helper interface {
	Says() (string, error)
	Kill() error
}

// exclude checks the lock at path with this process and another one. It returns nil if only one of
// them gets the lock, and if killing its holder frees it, and otherwise ErrUnsound.
func exclude(path string, start func(path string) (helper, error)) error {
	ours, err := fileops.TryLock(path)
	if err != nil {
		return err
	}

	h, err := ask(start, path, refused, "another process gets the lock that this one holds")
	if err == nil {
		err = h.Kill()
	}
	if err = errors.Join(err, ours.Unlock()); err != nil {
		return err
	}
	if h, err = ask(start, path, held,
		"another process does not get a lock that is free"); err != nil {
		return err
	}

	theirs, err := fileops.TryLock(path)
	switch {
	case err == nil:
		err = errors.Join(fmt.Errorf("%w: this process gets the lock that another one holds",
			fileops.ErrUnsound), theirs.Unlock())
	case errors.Is(err, fileops.ErrBusy):
		err = nil
	}

	if err = errors.Join(err, h.Kill()); err != nil {
		return err
	}

	return becomesFree(path)
}

// ask starts a helper and returns it if it answers want. It returns an error for any other answer.
func ask(start func(path string) (helper, error), path, want, otherwise string) (helper, error) {
	h, err := start(path)
	if err != nil {
		return nil, err
	}

	said, err := h.Says()
	switch {
	case err == nil && said == want:
		return h, nil
	case said == held || said == refused:
		err = fmt.Errorf("%w: %s", fileops.ErrUnsound, otherwise)
	case err == nil:
		err = errors.New(said)
	}

	return nil, errors.Join(err, h.Kill())
}

// becomesFree waits until the lock of a dead process is free.
func becomesFree(path string) error {
	for expired := time.After(atOnce); ; {
		lock, err := fileops.TryLock(path)
		if err == nil {
			return lock.Unlock()
		}
		if !errors.Is(err, fileops.ErrBusy) {
			return err
		}

		select {
		case <-time.After(10 * time.Millisecond):
		case <-expired:
			return fmt.Errorf("%w: the lock of a process that was killed is still held %v later",
				fileops.ErrUnsound, atOnce)
		}
	}
}

// A lockHolder is this program running as a helper.
type lockHolder struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Reader
}

func startHelper(path string) (helper, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	cmd := exec.Command(self, helperFlag, path)
	cmd.Args[0] = helperName
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}

	return &lockHolder{cmd, stdin, stdout}, cmd.Start()
}

// Says returns the helper's answer.
func (h *lockHolder) Says() (string, error) {
	timer := time.AfterFunc(patience, func() { h.cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(h.stdout).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("a second process that asks for the lock says nothing: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// Kill kills the helper and waits for its end.
func (h *lockHolder) Kill() error {
	defer h.stdin.Close()
	err := h.cmd.Process.Kill()
	h.cmd.Wait() // its error says only that it was killed
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}
