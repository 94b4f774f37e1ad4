package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/cmd/internal/tail"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// The limits of the health checks of one pass (spec §26.5).
const (
	checksAtOnce   = 16
	checksBeginFor = 10 * time.Second
	checksEndAfter = 15 * time.Second
	longestOutput  = 200 // bytes
)

// errChecksFirst means that health checks are due, which need no lock of the group.
var errChecksFirst = errors.New("its health checks come first")

// checks are the health checks that a pass has run. Nil: it has yet to look for them.
type checks struct {
	results []group.HealthResult
	lock    disk.Lock // keeps other passes from running the same; nil: there are no results
}

// release lets other passes run checks. The results must be committed.
func (c *checks) release() {
	if c != nil && c.lock != nil {
		c.lock.Unlock()
	}
}

// checkFirst returns errChecksFirst if health checks of g are due in this pass. A pass that may
// take g over runs none: they take time, after which it could not tell whether it has slept.
func (o *Orchestrator) checkFirst(g group.Group, seen observe.Observation) error {
	other := g.Registry.Owner != "" && g.Registry.Owner != o.Owner
	if o.Unchecked || o.Prompt != nil || other || g.StandsBy(o.Owner, o.Prompt, seen) ||
		g.TwoMachines(seen) || len(o.dueChecks(g, seen)) == 0 {
		return nil
	}
	return errChecksFirst
}

// dueChecks returns the services of g whose health this pass checks.
func (o *Orchestrator) dueChecks(g group.Group, seen observe.Observation) []*group.Service {
	return slices.DeleteFunc(g.DueChecks(seen), func(s *group.Service) bool {
		return o.CheckOnly != nil && !slices.Contains(o.CheckOnly, s.ID)
	})
}

// runChecks runs the health checks that are due, unless another process does. The caller releases
// the result.
func (o *Orchestrator) runChecks() *checks {
	lock, err := o.Ledger.LockHealth(o.Group)
	if err != nil {
		if !errors.Is(err, fileops.ErrBusy) {
			o.Env.Warnf("%s: health checks: %v", o.Group, err)
		}
		return &checks{}
	}

	// Another pass may have run them in the meantime, and some may not have begun.
	g, seen, err := o.Ledger.WitnessGroup(o.Group, nil)
	if err != nil {
		o.Env.Warnf("%s: health checks: %v", o.Group, err)
		return &checks{lock: lock}
	}
	return &checks{o.checkAll(g, o.dueChecks(g, seen)), lock}
}

// checkAll checks the health of services, some at a time, and returns the results, as far as there
// are any.
func (o *Orchestrator) checkAll(g group.Group, due []*group.Service) (results []group.HealthResult) {
	endAfter, beginFor := checksEndAfter, checksBeginFor
	if !o.checksEnd.IsZero() {
		left := max(time.Until(o.checksEnd), 0)
		endAfter, beginFor = min(endAfter, left), min(beginFor, left)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endAfter)
	defer cancel()
	late := time.After(beginFor)

	next := make(chan *group.Service)
	var mu sync.Mutex
	var running sync.WaitGroup
	for range min(checksAtOnce, len(due)) {
		running.Go(func() {
			for s := range next {
				r, err := o.checkOne(ctx, s)
				mu.Lock()
				if err != nil {
					o.Env.Warnf("%s: health of %q: %v", g.ID, s.ID, err)
				} else {
					results = append(results, r)
				}
				if r.CannotRun != "" {
					o.Env.Warnf("%s: health of %q: its check cannot be run: %s: correct --health, or what it needs", g.ID, s.ID,
						r.CannotRun)
				}
				mu.Unlock()
			}
		})
	}

	left := due
	for len(left) > 0 {
		select {
		case next <- left[0]:
			left = left[1:]
			continue
		case <-late:
		}
		break
	}
	close(next)
	running.Wait()
	if len(left) > 0 {
		o.Env.Warnf("%s: health of %d services: no time was left: a later pass checks them", g.ID,
			len(left))
	}
	return results
}

// checkOne checks the health of s. An error says that there is no result.
func (o *Orchestrator) checkOne(all context.Context, s *group.Service) (group.HealthResult, error) {
	check := s.StartInfo.Health.Usual()
	r := group.HealthResult{Service: s.ID, StartID: s.StartID}
	env, err := start.Environment(o.checking(s), s.StartInfo.EnvironmentFile)
	if err != nil {
		r.CannotRun = lastLine(err.Error(), "")
		return r, nil
	}

	ctx, cancel := context.WithTimeout(all, check.Timeout)
	defer cancel()

	var output tail.Tail
	cmd := exec.CommandContext(ctx, check.Command[0], check.Command[1:]...)
	cmd.Dir, cmd.Env = s.StartInfo.Dir, env
	cmd.Stdout, cmd.Stderr = &output, &output
	defer process.Contain(cmd)()
	cmd.WaitDelay = 100 * time.Millisecond // what it has left behind may hold the pipe

	err = cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // nothing that it has left in its group may pile up
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case all.Err() != nil:
		return r, errors.New("killed: the time for the checks of this pass is over")
	case ctx.Err() != nil:
		r.Output = lastLine(output.String(), fmt.Sprintf("the check took longer than %v", check.Timeout))
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it exited 0
		r.Passed = true
	case !exited && start.Class(err) == policy.Tempfail:
		return r, fmt.Errorf("it could not be run: %w: a later pass tries again", err)
	case !exited:
		if _, lost := os.Stat(cmd.Dir); lost != nil { // err names the command, which is not the cause
			err = lost
		}
		r.CannotRun = lastLine(err.Error(), "")
	case exit.ExitCode() == 126, exit.ExitCode() == 127:
		r.CannotRun = lastLine(output.String(), exit.String())
	default:
		r.Output = lastLine(output.String(), exit.String())
	}
	return r, nil
}

// checking returns the environment of the health check of s, without its environment file: that of
// its process, but no mark of a start. With that, it would be a process of the service.
func (o *Orchestrator) checking(s *group.Service) []string {
	var env []string
	for _, v := range o.environment(s, plan.Start{ServiceID: s.ID, Attempt: s.Attempt}, "", nil) {
		name, _, _ := strings.Cut(v, "=")
		if name != process.StartVariable && name != process.KeeperVariable && name != "DPL_REASON" {
			env = append(env, v)
		}
	}
	return env
}

// lastLine returns the last line of output, or how if it is empty, as the file of the group has it.
func lastLine(output, how string) string {
	output = strings.TrimRight(output, "\r\n \t")
	line := output[strings.LastIndexAny(output, "\r\n")+1:]
	if line == "" {
		line = how
	}
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(line, string(unicode.ReplacementChar)))
	return harmless.Short(line, longestOutput)
}
