package inspect

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/tail"
)

// Run is that of check.Attempt. The command runs in the directory of the attempt, without input. At
// the end of its time, it and its process group are killed.
func (a *Attempt) Run() (status int64, output string, err error) {
	if a.DryRun {
		return 0, "", errors.New("it was not run: --dry-run")
	}

	if a.exceeded != nil { // a search may still run, and take memory, until this process ends
		return 0, "", fmt.Errorf("it was not run: %w", a.exceeded)
	}

	ctx, cancel := context.WithTimeout(context.Background(), a.rules.Timeout)
	defer cancel()

	end := &tail.Tail{To: a.Output}
	argv := a.rules.Command
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = a.dir
	cmd.Stdout, cmd.Stderr = end, end
	defer process.Contain(cmd)()

	cmd.WaitDelay = time.Second // others may hold the pipe
	err = cmd.Run()
	if cmd.Process != nil {
		cmd.Cancel() // what is left of its group
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("it was stopped after %v", a.rules.Timeout)
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // it exited 0, and left something behind
	case exited && exit.ExitCode() >= 0:
		status, err = int64(exit.ExitCode()), nil
	case exited:
		err = errors.New("it was killed: " + exit.String())
	case err != nil:
		err = fmt.Errorf("it could not be run: %w", err)
	}
	return status, end.String(), err
}
