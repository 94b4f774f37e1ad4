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

	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/variables"
)

// timeout limits the run time of a hook.
const timeout = 10 * time.Second

// Run runs sh -c command with alert, a line without its newline, as its input and more in its
// environment, as in variables.Environ. What it prints goes to out. A hook that hangs is killed, with its process group.
func Run(command, alert string, more []string, out io.Writer) (timedOut bool, err error) {
	return RunIn(context.Background(), command, alert, variables.Environ(os.Environ(), more...), out)
}

// RunIn is Run with env as the environment. It also kills the hook when ctx ends.
func RunIn(ctx context.Context, command, alert string, env []string, out io.Writer) (timedOut bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(alert + "\n")
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
