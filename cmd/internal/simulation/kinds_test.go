package simulation

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/simfs"
)

// The numbers of the operations and groups of all histories.
const (
	interval  = 300 * time.Millisecond
	threshold = 2 * time.Second
	skew      = 400 // by how many milliseconds the wall clocks of two hosts differ at most
)

// kind is what can happen in a history.
type kind struct {
	name       string
	groups     bool // of supervisors, instead of operations
	queues     bool // likewise
	hosts      int
	powerLoss  bool
	hostCrash  bool
	clockSteps bool
	container  bool   // a crash is one of a container, whose machine goes on
	pauses     int    // of a lock's holder, at one call in so many; 0: none
	lease      bool   // a lock is lost in a long pause
	commit     string // how the ledger commits; "": as the product chooses
}

var kinds = []kind{
	{name: "operations", hosts: 1, powerLoss: true, clockSteps: true, pauses: 400},
	{name: "operations on two hosts", hosts: 2, powerLoss: true, hostCrash: true, pauses: 400},
	{name: "groups", groups: true, hosts: 1, powerLoss: true, clockSteps: true, pauses: 600},
	// No pauses: a start committed a threshold after it was decided looks dead to another host
	// (spec/reliability.md, 3).
	{name: "groups on two hosts", groups: true, hosts: 2, powerLoss: true, hostCrash: true},
	{name: "groups in a container", groups: true, hosts: 1, hostCrash: true, container: true, pauses: 600},
	{name: "operations under leases", hosts: 2, powerLoss: true, hostCrash: true, clockSteps: true,
		pauses: 150, lease: true, commit: fileops.CommitLink},
	{name: "queues", queues: true, hosts: 1, powerLoss: true, clockSteps: true, pauses: 400},
	{name: "queues on two hosts", queues: true, hosts: 2, powerLoss: true, hostCrash: true, pauses: 400},
	{name: "queues under leases", queues: true, hosts: 2, powerLoss: true, hostCrash: true,
		clockSteps: true, pauses: 150, lease: true, commit: fileops.CommitLink},
	{name: "groups under leases", groups: true, hosts: 2, powerLoss: true, hostCrash: true,
		clockSteps: true, pauses: 150, lease: true, commit: fileops.CommitLink},
}

func (k kind) config() fileops.Config {
	return fileops.Config{ResourceRoots: []string{"/data"}, Commit: k.commit}
}

// setUp makes the hosts, and what runs on them.
func (k kind) setUp(w *world) {
	w.kind, w.disk.Ordered = k, k.lease
	w.step, w.hop, w.faults = w.pick3(10, 3, 40), w.pick3(1, 4, 20), w.pick3(6, 25, 100)
	for i := range k.hosts {
		h := &host{w: w, id: string(rune('A' + i)), bootedAt: w.now - int64(w.between(0, 90_000)),
			lastPID: 100}
		h.machine = h.bootedAt
		if i > 0 {
			h.wall = int64(w.between(-skew, skew))
		}
		w.hosts = append(w.hosts, h)
	}

	w.make("/data/keep")
	w.make("/home/user/precious")
	if w.chance(3) {
		w.did(didStartEmpty)
	} else {
		w.calmly(func(a *actor) { a.command("create", true, func(*command) error { return nil }) })
		w.disk.Flush()
	}

	if w.eventAt = w.between(1, 800); k.groups {
		w.rules = w.newRules()
		w.tree = w.chance(2)
	}
	if w.tree {
		w.plantTree()
	}
	for i := range w.between(2, 4) {
		k.program(w, w.hosts[i%k.hosts])
	}

	if k.groups || k.queues {
		k.program(w, w.hosts[0])
	}
}

// program makes something run on h.
func (k kind) program(w *world, h *host) {
	w.calls++
	name := string(rune('a'+w.calls%26)) + "." + h.id
	if k.groups {
		w.groupProgram(name, h)
		return
	}
	if k.queues {
		w.queueProgram(name, h)
		return
	}

	op := "op1"
	if w.chance(5) {
		op = "op2"
	}

	p := h.spawn(nil)
	switch w.r.IntN(13) {
	case 0, 1, 2, 3, 4:
		w.start("participant-"+name, p, participant(op, w.between(1, 2)))
	case 5, 6:
		w.start("supervisor-"+name, p, supervisor(op, w.between(1, 5)))
	case 7, 8:
		w.start("janitor-"+name, p, janitor(w.between(1, 3)))
	case 10, 11, 12:
		if w.chance(2) {
			op = "op2"
		}
		w.start("runner-"+name, p, runner(op, w.between(1, 3)))
	case 9:
		w.start("bystander-"+name, p, bystander(op, w.between(1, 3)))
	}
}

// again is what is started on a host that has crashed.
func (k kind) again(w *world, h *host) {
	for range w.between(0, 2) {
		k.program(w, h)
	}
}

// calmly runs a program alone, without faults.
func (w *world) calmly(program func(a *actor)) { w.calmlyOn(w.hosts[0], program) }

func (w *world) calmlyOn(h *host, program func(a *actor)) {
	was := w.calm
	w.calm = true
	a := w.start("calm", h.spawn(nil), program)
	w.resume(a)
	w.actors = w.actors[:len(w.actors)-1]
	w.calm = was
}

// make creates a file, with its directories, that survives everything except deliberate changes.
func (w *world) make(file string) {
	p := &simfs.Process{Disk: w.disk}
	f, err := p.Create(w.makeDir(p, file), 0o600)
	if err != nil {
		panic(err)
	}

	f.Write([]byte("x"))
	f.Sync()
	for dir := file; dir != "/"; {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 1)]
		d, err := p.Open(dir)
		if err != nil {
			panic(err)
		}
		d.Sync()
	}
}

func (w *world) makeDir(p *simfs.Process, file string) string {
	for i := 1; i < len(file); i++ {
		if file[i] == '/' && !w.disk.Exists(file[:i]) {
			p.Mkdir(file[:i], 0o700)
		}
	}
	return file
}
