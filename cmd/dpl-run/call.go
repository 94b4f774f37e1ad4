package main

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// call is the part of a call in an operation.
type call struct {
	env    *cli.Env
	flags  *run
	ledger *fileops.Ledger
	op     string
	push   protocol.Push
}

// part returns what the flags ask for.
func (c *run) part(env *cli.Env) (part, error) {
	if c.group != "" {
		return c.registration(env)
	}
	p, op, err := c.Arguments(env, participantOf(c.command[0]))
	if err != nil {
		return nil, err
	}
	p.Tmp, p.Process = true, self()
	p.PID = p.Process.PID
	if c.notify {
		p.Readiness = protocol.ReadinessStarting
	}
	l, err := c.Open(env)
	return &call{env: env, flags: c, ledger: l, op: op, push: p}, err
}

// participantOf returns the name of command's file as an id: other characters become -.
func participantOf(command string) string {
	name := []byte(filepath.Base(command))
	for i, b := range name {
		if !strings.ContainsRune("._:-", rune(b)) && !alphanumeric(b) {
			name[i] = '-'
		}
	}
	id := strings.ReplaceAll(strings.TrimLeft(string(name), "._:-"), "..", "--")
	id = id[:min(len(id), 60)]
	if protocol.CheckID(id) != nil {
		return "command"
	}
	return id
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

func (c *call) name() string { return c.op + ": " + c.push.Call }

func (c *call) begin() ([]string, time.Duration, error) {
	edit, err := c.flags.Push.Push(c.env, c.ledger, c.op, c.push)
	if err != nil || c.env.DryRun() {
		return nil, 0, c.tooLate(err)
	}
	return []string{
		"DPL_LEDGER=" + c.ledger.Dir(), "DPL_OP=" + c.op, "DPL_CALL=" + c.push.Call, "DPL_PARTICIPANT=" + c.push.Participant,
		"DPL_TMP=" + c.ledger.TmpDir(c.op, c.push.Call),
	}, edit.After.HeartbeatInterval, nil
}

// tooLate gives err the status that a call has whose operation is not running any more.
func (c *call) tooLate(err error) error {
	switch {
	case errors.Is(err, fileops.ErrArchived):
		return cli.WithStatus(cli.StatusOver, err)
	case errors.Is(err, protocol.ErrNotRunning):
		if op, _, failed := c.ledger.ReadOperation(c.op); failed == nil && op.State.Terminal() {
			return cli.WithStatus(cli.StatusOver, err)
		}
		return cli.WithStatus(cli.StatusCleanUp, err)
	}
	return err
}

func (c *call) beat(say protocol.Saying) (int, error) {
	actor := protocol.Actor{Call: c.push.Call, PID: c.push.PID, Process: c.push.Process}
	edit, err := c.env.Edit(c.ledger, c.op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		if op.State == protocol.Running {
			say.Cleaning = false // it has been told otherwise, but of another one of the same id
		}
		return op.Heartbeat(actor, say, seen)
	})
	switch {
	case gone(err) || edit.Archived:
		return cli.StatusOver, nil
	case err != nil:
		return 0, cli.Named("heartbeat", c.op, c.push.Call, err)
	}
	return edit.After.HeartbeatStatus(actor), nil
}

func (c *call) told(status int) string {
	switch status {
	case cli.StatusCleanUp:
		return "the operation is aborted or in cleanup"
	case cli.StatusOver:
		return "the operation or the call is over"
	}
	return "the call was declared crashed"
}

// gone reports whether the call is not there any more.
func gone(err error) bool {
	return errors.Is(err, protocol.ErrNoCall) || errors.Is(err, protocol.ErrOver) || errors.Is(err, fileops.ErrArchived) ||
		errors.Is(err, fileops.ErrNotFound)
}

func (c *call) end(failure string) (status int, err error) {
	pop := protocol.Pop{Call: c.push.Call}
	if failure != "" && !c.push.Contained {
		pop.Fail, pop.Reason = true, "call "+c.push.Call+": "+failure
	}
	_, err = c.env.Edit(c.ledger, c.op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		if f := op.Frame(c.push.Call); f != nil && !f.State.Live() {
			status = cli.StatusCrashed
		}
		return op.Pop(pop, seen)
	})
	if gone(err) {
		return cli.StatusOver, nil
	}
	return status, cli.Named("pop", c.op, c.push.Call, err)
}
