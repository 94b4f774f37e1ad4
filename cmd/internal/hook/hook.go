// Package hook runs the commands of --on-alert and --on-nudge.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/variables"
)

// timeout limits the run time of a hook.
const timeout = 10 * time.Second

// Run runs sh -c command with alert, a line of JSON without its newline, as its input and more in its
// environment, as in variables.Environ. What it prints goes to out. A hook that hangs is killed,
// with its process group.
func Run(command, alert string, more []string, out io.Writer) (timedOut bool, err error) {
	return RunIn(context.Background(), command, alert, variables.Environ(os.Environ(), more...), out)
}

// Again reports whether a hook, of which Run returned these results, wants its input another time:
// it hung, exited 75 (EX_TEMPFAIL), or could not be executed (126, 127, or no shell).
func Again(timedOut bool, err error) bool {
	exit, exited := errors.AsType[*exec.ExitError](err)
	if err == nil || timedOut || !exited {
		return err != nil
	}
	switch exit.ExitCode() {
	case 75, 126, 127:
		return true
	}
	return false
}

// RunIn is Run with env as the environment. It also kills the hook when ctx ends.
func RunIn(ctx context.Context, command, alert string, env []string, out io.Writer) (timedOut bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(harmless.JSON(alert) + "\n") // it may be sent as it is
	out = messages.ForChild(out)
	cmd.Stdout, cmd.Stderr = out, out
	defer process.Contain(cmd)()

	cmd.WaitDelay = time.Second // a grandchild may hold the pipes
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return true, fmt.Errorf("killed after %v", timeout)
	case errors.Is(err, exec.ErrWaitDelay):
		return false, nil // it exited 0
	}
	return false, err
}
