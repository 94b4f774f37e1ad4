package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
)

// Run is that of check.Attempt. The command runs in the directory of the attempt, without input. At
// the end of its time, it and its process group are killed.
func (a *Attempt) Run() (status int64, output string, err error) {
	if a.DryRun {
		return 0, "", errors.New("it was not run: --dry-run")
	}

	ctx, cancel := context.WithTimeout(context.Background(), a.rules.Timeout)
	defer cancel()

	end := &tail{to: a.Output}
	argv := a.rules.Command
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = a.dir
	cmd.Stdout, cmd.Stderr = end, end
	defer process.Contain(cmd)()

	cmd.WaitDelay = time.Second // others may hold the pipe
	err = cmd.Run()
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

// A tail keeps the end of what is written to it, and passes everything on. Whether that can be
// written does not matter to the command.
type tail struct {
	to   io.Writer
	text []byte
}

// mostOutput is how much of the command's output is in a report.
const mostOutput = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if more := len(t.text) - 2*mostOutput; more > 0 {
		t.text = append(t.text[:0], t.text[len(t.text)-mostOutput:]...)
	}
	_, _ = t.to.Write(p)
	return len(p), nil
}

// String returns the last mostOutput bytes, as UTF-8.
func (t *tail) String() string {
	return strings.ToValidUTF8(string(t.text[max(0, len(t.text)-mostOutput):]), "\uFFFD")
}
