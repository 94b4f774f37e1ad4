package simulation

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// machine is the host of a pass, as orchestrator.Machine. Its methods are system calls, in which
// the pass may be killed.
type machine struct{ c *command }

func (m machine) host() *host { return m.c.a.p.host }

func (m machine) PID() int { return m.c.a.p.PID }

func (m machine) Uptime() time.Duration { return m.host().uptime() }

// Pause implements orchestrator.Machine.
func (m machine) Pause(d time.Duration) { m.c.a.sleep(int(d.Milliseconds())) }

func (m machine) NewStartID() string {
	m.c.w.starts++
	return fmt.Sprintf("%016x", m.c.w.starts)
}

// Room sometimes lets a pass make only one start, or none.
func (m machine) Room() *int {
	if m.c.w.calm || !m.c.w.chance(20) {
		return nil
	}
	room := m.c.w.r.IntN(2)
	return &room
}

func (m machine) Spawn(s orchestrator.Start) (orchestrator.Gate, error) {
	late, err := m.c.fs.Call("spawn")
	if err == nil && !m.c.w.calm && m.c.w.chance(40) {
		err = syscall.EAGAIN
	}

	if err != nil {
		m.c.w.did(didSpawnFail)
		return nil, err
	}

	p := m.host().spawn(nil)
	p.stage, p.role = true, s.Supervisor
	p.startID = s.ID
	m.c.w.started[s.ID] = p
	if !m.c.w.chance(4) {
		p.keeper, p.record = m.host().spawn(nil), s.Record
	}
	m.c.w.tell("spawns %d for %s", p.PID, p.role)
	m.c.w.did(didSpawn)
	g := &gate{m: m, p: p, latest: s.Latest}
	if m.c.w.bug == bugNoGate {
		g.open()
	} else {
		m.c.stages = append(m.c.stages, p)
	}

	if late != nil {
		p.kill()
		return nil, late
	}

	return g, nil
}

// gate is one behind which p waits.
type gate struct {
	m      machine
	p      *proc
	latest time.Duration
}

func (g *gate) Process() observe.Process { return g.p.Process }

// Keeper may return none, as on systems that give orphans only to their first process.
func (g *gate) Keeper() observe.Process {
	if g.p.keeper == nil {
		return observe.Process{}
	}
	return g.p.keeper.Process
}

func (g *gate) Release() error {
	late, err := g.m.c.fs.Call("release")
	w := g.m.c.w
	switch {
	case err != nil:
	case g.p.dead:
		err = process.ErrNoProcess
	case g.latest > 0 && g.m.Uptime() > g.latest:
		w.did(didComeTooLate)
		err = start.ErrTooLate
	case !w.calm && w.chance(12) && g.p.stage:
		err = syscall.ENOENT
		w.did(didExecFail)
		g.p.writes(&simfs.Process{Disk: w.disk}, group.PhaseExec, policy.Exit{})
		g.p.ends(policy.Exit{Reason: policy.StartFailed, Error: err.Error()})
	default:
		g.open()
		err = late
	}

	if err != nil {
		w.did(didReleaseFail)
		g.p.kill()
		return err
	}

	_, err = g.m.c.fs.Call("released")
	switch {
	case w.bug == bugNotSilent && w.chance(4):
		g.m.c.a.sleep(10_000) // that long a pass waits for an answer
		g.p.kill()
		return syscall.ETIMEDOUT
	case err != nil:
		g.p.kill() // whatever it has started lives on
		return start.ErrSilent
	}

	return nil
}

func (g *gate) Cancel() error {
	g.m.c.fs.Call("cancel")
	g.p.kill()
	return nil
}

// open makes the stage the service. There must be no other process of it.
func (g *gate) open() {
	w := g.m.c.w
	if !g.p.stage {
		return
	}

	g.p.writes(&simfs.Process{Disk: w.disk}, group.PhaseExec, policy.Exit{})
	g.p.stage, g.p.acts, g.p.beat = false, true, w.now
	w.did(didRelease)
	w.tell("%d is %s", g.p.PID, g.p.role)

	for _, h := range w.hosts {
		for _, other := range h.procs {
			if other != g.p && !other.dead && other.acts && other.role == g.p.role &&
				!w.mayBeForgotten(other) {
				w.fail("%d on %s becomes %s, and %d on %s is alive", g.p.PID, g.p.host.id, g.p.role,
					other.PID, h.id)
			}
		}
	}

	if w.calm {
		g.p.exits(w.exitStatus()) // no other process runs any more: it ends at once
		g.p.recordEnd(&simfs.Process{Disk: w.disk})
		return
	}

	w.start("supervisor-"+g.p.role, g.p, supervised(g.p.role))
}

// mayBeForgotten reports whether a live service may be taken for dead: hosts cannot see each
// other's processes, so one that is silent for long enough may register on another host.
func (w *world) mayBeForgotten(p *proc) bool {
	return len(w.hosts) > 1 && w.now-p.beat > threshold.Milliseconds()-skew
}

var errNoMember = errors.New("it leads no group")

func (m machine) SignalGroup(p observe.Process, sig syscall.Signal) error {
	return m.signal(p, sig, true)
}

func (m machine) Exited(p observe.Process) bool { return m.host().is(p) == nil }

func (m machine) InGroup(p, leader observe.Process) bool {
	member := m.host().is(p)
	return member != nil && member.session == leader.PID
}

func (m machine) SignalProcess(p observe.Process, sig syscall.Signal) error {
	return m.signal(p, sig, false)
}

func (m machine) signal(p observe.Process, sig syscall.Signal, group bool) error {
	if _, err := m.c.fs.Call("signal"); err != nil {
		return err
	}

	leader := m.host().is(p)
	switch {
	case leader == nil:
		return process.ErrNoProcess
	case group && leader.session != leader.PID:
		return errNoMember
	}

	for _, member := range slices.Clone(m.host().procs) {
		if member == leader || group && !member.dead && member.session == leader.PID {
			m.deliver(member, sig)
		}
	}

	return nil
}

// deliver gives a signal to a process, which must be a supervisor's.
func (m machine) deliver(p *proc, sig syscall.Signal) {
	w := m.c.w
	w.tell("%v to %d (%s)", sig, p.PID, p.role)
	if p.role == "" {
		w.fail("%v to process %d of %s, which is no supervisor", sig, p.PID, p.host.id)
	}

	if sig == syscall.SIGKILL {
		w.did(didSigkill)
		p.kill()
		return
	}

	w.did(didTerm)
	switch {
	case p.program != nil && !p.program.over:
		p.program.term = true
	case w.chance(2):
		p.ends(policy.Exit{Reason: policy.Exited, Code: policy.CodeKilled, Status: int(sig)})
	}
}

// errAmidExec is of a process that spends long in an execve, on a slow disk.
var errAmidExec = errors.New("it shows no environment yet")

func (m machine) Survivors(leader observe.Process, startID string,
	_ observe.Process) (found []observe.Process, doubt error) {
	w := m.c.w
	if leader.HostID != m.host().id || leader.BootID != m.host().bootID() {
		return nil, nil
	}

	for _, p := range m.host().procs {
		if p.dead || p.StartTicks < leader.StartTicks || p.stage {
			continue
		}

		switch {
		case p.session == leader.PID && !w.calm && w.chance(8):
			w.did(didAmidExec)
			if w.bug != bugNoDoubt {
				doubt = errAmidExec
			}
		case p.startID == startID:
			found = append(found, p.Process)
		}
	}

	if len(found) > 0 {
		w.did(didSurvivors)
	}

	return found, doubt
}
