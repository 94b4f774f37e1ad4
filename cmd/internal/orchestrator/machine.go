package orchestrator

import (
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Env is what a pass needs from its command. *cli.Env implements it.
type Env interface {
	DryRun() bool
	CheckGroupTrust(l *fileops.Ledger) error
	NoteCommit()
	Again() []string // see cli.Env
	Logf(format string, args ...any)
	Warnf(format string, args ...any)
}

// A Machine gives a pass access to the processes of a host. Its methods are those of packages
// process, start and time with the same names, or nearly.
type Machine interface {
	PID() int // the process that makes the pass
	Uptime() time.Duration
	Pause(d time.Duration)
	NewStartID() string
	Room() *int // for how many starts at once this process may open files; nil: any number
	Spawn(s Start) (Gate, error)
	SignalGroup(p observe.Process, sig syscall.Signal) error
	Exited(p observe.Process) bool
	InGroup(p, leader observe.Process) bool
	SignalProcess(p observe.Process, sig syscall.Signal) error
	Survivors(
		leader observe.Process, startID string, keeper observe.Process,
	) ([]observe.Process, error)
}

// A Start is a service to start.
type Start struct {
	start.Command
	Group, Supervisor string
	StopTimeout       time.Duration
}

// finishing returns how long the keeper of s may need after the end of the service: systemd must
// not kill it before.
func (s Start) finishing() time.Duration {
	if s.Finish == nil {
		return 0
	}
	return s.FinishTimeout
}

// A Gate holds back a process that will become a service. See start.Gate.
type Gate interface {
	Process() observe.Process
	Keeper() observe.Process
	Release() error
	Cancel() error
}

func (o *Orchestrator) machine() Machine {
	if o.Machine != nil {
		return o.Machine
	}
	return here{o.Spawn}
}

// here is the machine that this program runs on.
type here struct{ spawn Spawn }

func (here) PID() int { return os.Getpid() }

func (here) Uptime() time.Duration { return process.Uptime() }

func (here) Pause(d time.Duration) { time.Sleep(d) }

func (here) NewStartID() string { return process.NewStartID() }

func (here) Room() *int { return start.Room() }

func (h here) Spawn(s Start) (Gate, error) {
	user, inUnit := start.InUnit()
	if h.spawn != SpawnSystemdRun && (h.spawn == SpawnDirect || !inUnit) {
		return gate(start.Spawn(s.Command))
	}
	return gate(start.SpawnUnit(s.Command, start.Unit{
		Name: start.UnitName(s.Group, s.Supervisor, s.ID),
		User: user || !inUnit && os.Geteuid() != 0, StopTimeout: min(s.StopTimeout, wire.Longest-s.finishing()) + s.finishing(),
	}))
}

// gate returns a nil Gate for a nil g.
func gate(g *start.Gate, err error) (Gate, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (here) SignalGroup(p observe.Process, sig syscall.Signal) error {
	return process.SignalGroup(p, sig)
}

func (here) Exited(p observe.Process) bool {
	return process.Look(p) == observe.Gone
}

func (here) InGroup(p, leader observe.Process) bool { return process.InGroup(p, leader) }

func (here) SignalProcess(p observe.Process, sig syscall.Signal) error {
	return process.SignalProcess(p, sig)
}

func (here) Survivors(leader observe.Process, startID string,
	keeper observe.Process) ([]observe.Process, error) {
	return process.Survivors(leader, startID, keeper)
}
