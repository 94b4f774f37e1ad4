package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// arguments returns the push that the flags ask for, and its operation.
func (c *push) arguments(env *cli.Env) (p protocol.Push, op string, err error) {
	p = protocol.Push{
		Handle: c.handle, Description: c.description, Contained: c.contained, OrphanPolicy: protocol.OrphanPolicy(c.orphanPolicy),
		Interval: c.interval, Threshold: c.staleness, Tmp: c.tmp,
	}
	if p.Participant, err = cli.Required("--participant", c.participant, "DPL_PARTICIPANT"); err != nil {
		return p, "", err
	}
	if p.Supervisor, err = cli.ID("--supervisor", c.supervisor, "DPL_SUPERVISOR"); err != nil {
		return p, "", err
	}
	if p.Call, err = cli.ID("--call", c.call, ""); err != nil {
		return p, "", err
	}
	if op, err = cli.ID("--op", c.Op, "DPL_OP"); err != nil {
		return p, "", err
	}
	switch interval, threshold := orDefault(p.Interval, protocol.DefaultHeartbeatInterval), orDefault(p.Threshold, protocol.DefaultStalenessThreshold); {
	case c.orphanPolicy != "" && p.Supervisor == "":
		return p, "", cli.Usagef("--orphan-policy goes with --supervisor")
	case p.OrphanPolicy != "" && p.OrphanPolicy != protocol.OrphanCrash && p.OrphanPolicy != protocol.OrphanKeep:
		return p, "", cli.Usagef("--orphan-policy: want crash or keep, not %q", c.orphanPolicy)
	case p.Handle != "" && p.Supervisor == "":
		return p, "", cli.Usagef("--handle goes with --supervisor")
	case (p.Interval != 0 || p.Threshold != 0) && interval >= threshold:
		return p, "", cli.Usagef("--interval %v must be less than --staleness %v", interval, threshold)
	}
	if p.Resources, err = cli.Absolute(c.resources); err != nil {
		return p, "", err
	}
	if p.PID, p.Process, err = c.process(); err != nil {
		return p, "", err
	}
	if p.Call == "" {
		p.Call = newID(p.Participant, "")
	}
	if op == "" {
		op = newID(env.Now().Format("20060102T150405"), "-"+p.Participant)
	}
	return p, op, nil
}

// process returns what --pid names, or the parent's pid alone: a shell may run each line in a new process, so that the
// parent's end is no crash.
func (c *push) process() (int, protocol.Process, error) {
	if c.pid == 0 {
		return os.Getppid(), protocol.Process{}, nil
	}
	p, err := cli.Identify(c.pid)
	return c.pid, p, err
}

func orDefault(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}

// newID returns an id that begins with the two words and ends at random.
func newID(first, second string) string {
	const most = 100
	words := first + second
	if len(words) > most {
		words = strings.TrimRight(words[:most], ".")
	}
	return fmt.Sprintf("%s-%08x", words, rand.Uint32())
}

// push makes the edit, and prints it.
func (c *push) push(env *cli.Env, l *fileops.Ledger, op string, p protocol.Push, roots []string) error {
	if l != nil { // there is one, though this is a dry run
		if err := cli.CheckRoots(l, roots); err != nil {
			return err
		}
		for _, path := range p.Resources {
			if err := l.CheckResource(path); err != nil {
				return cli.Named("push", op, p.Call, err)
			}
		}
	}
	mode := fileops.Existing
	if !c.noCreate {
		mode = fileops.OrCreate
	}
	edit, err := env.Edit(l, op, mode, func(before protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		if before.ID == "" {
			if before.Revision > 0 && !c.reuse {
				return before, fileops.ErrArchived
			}
			revision := before.Revision
			before = protocol.Create(op, p.Interval, p.Threshold)
			before.Revision = revision
		}
		return before.Push(p, seen)
	})
	if err != nil {
		return cli.Named("push", op, p.Call, err)
	}
	if c.tmp && !edit.Changed && !l.HasTmp(op, p.Call) {
		return cli.Named("push", op, p.Call, fmt.Errorf("%w, pushed without --tmp", protocol.ErrKnownCall))
	}
	if !env.DryRun() || env.JSON() {
		c.print(env, l, edit, p)
	}
	if edit.Created && !env.DryRun() {
		env.TickNeighbours(l, op)
	}
	return nil
}

func (c *push) print(env *cli.Env, l *fileops.Ledger, edit cli.Edit, p protocol.Push) {
	op, tmp := edit.After.ID, ""
	if c.tmp && l != nil {
		tmp = l.TmpDir(op, p.Call)
	}
	switch {
	case env.JSON():
		env.PrintJSON(append(edit.Result(), cli.Object{
			{Name: "callId", Value: p.Call}, {Name: "participantId", Value: p.Participant}, {Name: "tmp", Value: cli.OrNull(tmp)},
		}...))
	case c.asShell:
		fmt.Fprintf(env.Stdout, "export DPL_LEDGER=%s DPL_OP=%s DPL_CALL=%s DPL_PARTICIPANT=%s", quote(l.Dir()), op, p.Call, p.Participant)
		if tmp != "" {
			fmt.Fprintf(env.Stdout, " DPL_TMP=%s", quote(tmp))
		}
		fmt.Fprintln(env.Stdout)
	default:
		fmt.Fprintln(env.Stdout, op, p.Call)
	}
}

// quote returns s as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
