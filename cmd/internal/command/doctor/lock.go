package doctor

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
	"github.com/dpl-project/dpl/fileops/survey"
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

	_, err := survey.TryLock(os.Args[2])
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
	err := p.inScratch(func(s *survey.Scratch) error { return exclude(s.LockFile(), startHelper) })
	return p.judged(err, "edits would be lost: put the ledger on a file system with flock(2)")
}

// A starter starts another process that tries to take the lock at path. It returns what that says,
// and a function that kills it and waits for its end.
type starter func(path string) (said string, kill func() error, err error)

// exclude checks the lock at path with this process and another one. It returns nil if only one of
// them gets the lock, and if killing its holder frees it, and otherwise ErrUnsound.
func exclude(path string, start starter) error {
	ours, err := survey.TryLock(path)
	if err != nil {
		return err
	}

	kill, err := ask(start, path, refused, "another process gets the lock that this one holds")
	if err == nil {
		err = kill()
	}
	if err = errors.Join(err, ours.Unlock()); err != nil {
		return err
	}

	kill, err = ask(start, path, held, "another process does not get a lock that is free")
	if err != nil {
		return err
	}

	theirs, err := survey.TryLock(path)
	switch {
	case err == nil:
		err = errors.Join(fmt.Errorf("%w: this process gets the lock that another one holds",
			survey.ErrUnsound), theirs.Unlock())
	case errors.Is(err, fileops.ErrBusy):
		err = nil
	}

	if err = errors.Join(err, kill()); err != nil {
		return err
	}

	return becomesFree(path)
}

// ask starts a helper and returns the function that kills it, if it says want. It returns an error
// for any other answer.
func ask(start starter, path, want, otherwise string) (kill func() error, err error) {
	said, kill, err := start(path)
	switch {
	case err != nil:
		return nil, err
	case said == want:
		return kill, nil
	case said == held || said == refused:
		err = fmt.Errorf("%w: %s", survey.ErrUnsound, otherwise)
	default:
		err = errors.New(said)
	}

	return nil, errors.Join(err, kill())
}

// becomesFree waits until the lock of a dead process is free.
func becomesFree(path string) error {
	for expired := time.After(atOnce); ; {
		lock, err := survey.TryLock(path)
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
				survey.ErrUnsound, atOnce)
		}
	}
}

// startHelper starts this program as a helper. See starter.
func startHelper(path string) (said string, kill func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}

	cmd := exec.Command(self, helperFlag, path)
	cmd.Args[0] = helperName
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}

	kill = func() error {
		defer stdin.Close()
		err := cmd.Process.Kill()
		cmd.Wait() // its error says only that it was killed
		if errors.Is(err, os.ErrProcessDone) {
			err = nil
		}
		return err
	}

	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		err = fmt.Errorf("a second process that asks for the lock says nothing: %w", err)
		return "", nil, errors.Join(err, kill())
	}

	return strings.TrimSpace(line), kill, nil
}
