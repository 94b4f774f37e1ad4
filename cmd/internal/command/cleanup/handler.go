package cleanup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/cmd/internal/variables"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// handler runs a program for each crashed call of a supervisor (spec §5.7).
type handler struct {
	env     *cli.Env
	ledger  *fileops.Ledger
	self    protocol.Actor // the actor that claims calls: this process
	argv    []string
	timeout time.Duration
	failed  bool
}

// handler returns a handler for what the flags ask for.
func (c *cleanup) handler(env *cli.Env) (*handler, error) {
	supervisor, err := c.supervisor()
	if err != nil {
		return nil, err
	}

	l, err := env.Open()
	if err != nil {
		return nil, err
	}
	if l.Config().Shared && !env.TrustsGroup() {
		return nil, fmt.Errorf("%w: %s is shared: a handler acts on what others write: give "+
			"--trust-group", fileops.ErrPermission, l.Dir())
	}

	self := protocol.Actor{Supervisor: supervisor, PID: os.Getpid()}
	if self.Process, err = cli.Identify(cli.PID(self.PID)); err != nil {
		return nil, err
	}

	return &handler{
		env: env, ledger: l, self: self, argv: c.Handler, timeout: time.Duration(c.Timeout),
	}, nil
}

// handle runs the handler for the crashed calls in op, or if op is "", for those in all operations.
func (c *cleanup) handle(env *cli.Env, op string) error {
	h, err := c.handler(env)
	if err != nil {
		return err
	}

	ids := []string{op}
	if op == "" {
		if ids, err = session.OperationsOf(h.ledger, h.self.Supervisor); err != nil {
			return err
		}
	}

	worst, results := cli.StatusOK, []cli.Object{}
	for _, id := range ids {
		handled, err := h.operation(id)
		if op == "" && (errors.Is(err, fileops.ErrArchived) ||
			errors.Is(err, fileops.ErrNotFound) || errors.Is(err, protocol.ErrOver)) {
			continue // it has ended since it was listed
		}

		if err = env.AfterCommits(err); err != nil {
			env.Warnf("%v", cli.Named("cleanup", id, h.self.Supervisor, err))
			worst = cli.Worse(worst, cli.StatusOf(err))
		}

		results = append(results, handled...)
	}

	if env.JSON() {
		env.PrintJSON(cli.Object{{"handled", results}})
	}
	if worst == cli.StatusOK && h.failed {
		worst = cli.StatusFalse
	}

	return cli.Exit(worst)
}

// operation claims the supervisor's crashed calls in id and handles them one by one.
func (h *handler) operation(id string) (handled []cli.Object, err error) {
	var calls []string
	edit, err := h.env.Edit(h.ledger, id, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			after, claimed, err := op.Claim(h.self, seen)
			calls = claimed
			return after, err
		})

	if err != nil {
		return nil, err
	}

	for i, call := range calls {
		f := edit.After.Frame(call)
		if f == nil {
			continue // the claim itself has dropped it
		}

		runErr := h.run(edit.After, f)
		if runErr != nil {
			h.failed = true
			h.env.Warnf("%s: handler for %q: %v: the call stays crashed", id, call, runErr)
		}

		after, err := h.record(id, call, runErr == nil)
		if err != nil && !gone(err) {
			return handled, fmt.Errorf("the handler for %q has run, but this could not be "+
				"recorded, and %d more wait: %w", call, len(calls)-i-1, err)
		}

		handled = append(handled, append(cli.CrashedCall(edit.After, f), cli.Object{
			{"acknowledged", runErr == nil},
			{"revision", after.After.Revision},
		}...))
	}

	return handled, nil
}

// record acknowledges call, or if its handler has failed, gives it back.
func (h *handler) record(id, call string, handled bool) (session.Edit, error) {
	return h.env.Edit(h.ledger, id, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if handled {
				return op.Ack(protocol.Actor{Supervisor: h.self.Supervisor}, []string{call}, seen)
			}
			return op.Unclaim(h.self.Supervisor, []string{call}, seen)
		})
}

// gone reports whether err means that the call no longer exists, for example because its caller
// popped it.
func gone(err error) bool {
	return errors.Is(err, protocol.ErrNoCall) || errors.Is(err, protocol.ErrOver) ||
		errors.Is(err, fileops.ErrArchived)
}

// run runs the program for f, and sends heartbeats of the supervisor while it runs.
func (h *handler) run(op protocol.Operation, f *protocol.Frame) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.timeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, h.argv[0], h.argv[1:]...)
	cmd.Env = variables.Environ(os.Environ(), "DPL_LEDGER="+h.ledger.Dir(), "DPL_OP="+op.ID,
		"DPL_RUN="+op.RunID, "DPL_CALL="+f.CallID, "DPL_PARTICIPANT="+f.ParticipantID, "DPL_HANDLE="+f.SupervisorHandle)
	cmd.Stdin = bytes.NewReader(h.env.JSONText(cli.CrashedCall(op, f)))
	said := messages.ForChild(h.env.Stderr)
	cmd.Stdout, cmd.Stderr = said, said
	if !h.env.JSON() {
		cmd.Stdout = h.env.Stdout
	}

	defer process.Contain(cmd)()
	cmd.WaitDelay = time.Second // a grandchild may hold the pipes
	if err := cmd.Start(); err != nil {
		return err
	}

	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()

	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return fmt.Errorf("killed after %v", h.timeout)
			}
			return err
		case <-time.After(op.HeartbeatInterval):
			h.beat(op.ID)
		}
	}
}

func (h *handler) beat(id string) {
	_, err := h.env.Edit(h.ledger, id, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Heartbeat(protocol.Actor{Supervisor: h.self.Supervisor}, observe.Report{}, seen)
		})
	if err != nil {
		h.env.Warnf("%v", cli.Named("heartbeat", id, h.self.Supervisor, err))
	}
}
