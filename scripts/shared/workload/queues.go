//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/scripts/queues"
)

// useQueue has clients on both hosts use one queue, while host a is cut off from time to time, and
// judges what they have said and made. Then it tries what one host does with the tasks of the
// other, and lets porcupine explain short histories. All that is in ledgers of its own.
func (r *rig) useQueue() *Result {
	result := &Result{FS: r.name, Version: r.version, Options: r.options, Commit: r.commit}
	for _, part := range []struct {
		name string
		run  func(queues.Place) (queues.Report, error)
	}{
		{"crowd", r.crowd},
		{"handover", queues.Handover},
		{"histories", func(p queues.Place) (queues.Report, error) {
			return queues.Histories(p, r.histories, 8, 100)
		}},
	} {
		if !slices.Contains(strings.Split(r.parts, ","), part.name) {
			continue
		}
		p, err := r.place(part.name)
		check(err)
		report, err := r.patiently(part.run, p)
		if err != nil {
			result.Left = part.name + ": " + err.Error()
			return result
		}

		fmt.Printf("%s, seed %d: %+v\n", part.name, p.Seed, report)
		report.Faults = report.Faults[:min(len(report.Faults), 20)] // examples are enough
		result.Queues = append(result.Queues, Queue{part.name, report})
	}

	result.Cuts = r.parted
	return result
}

// patiently runs run. It does not wait for commands that are stuck in a system call: they end with
// the driver's namespaces.
func (r *rig) patiently(run func(queues.Place) (queues.Report, error),
	p queues.Place) (queues.Report, error) {
	var report queues.Report
	var err error
	done := make(chan struct{})
	go func() {
		report, err = run(p)
		close(done)
	}()

	select {
	case <-done:
		return report, err
	case <-time.After(r.patience):
		return queues.Report{Faults: []string{fmt.Sprintf("not done after %v: a command hangs", r.patience)}}, nil
	}
}

// A Queue is what one way to use a queue has found.
type Queue struct {
	Name string
	queues.Report
}

// crowd has the crowd at work while host a is cut off.
func (r *rig) crowd(p queues.Place) (queues.Report, error) {
	if p.Cuts = r.cuts > 0; p.Cuts { // all over the period, so that host a gets something done
		r.apart = max(r.apart, r.period/time.Duration(r.cuts)-r.lease)
	}

	done, parted := make(chan struct{}), make(chan int)
	go func() { parted <- r.parting(done) }()
	report, err := queues.Crowd(p, 2*2*r.writers, r.period)
	close(done)
	r.parted = <-parted
	return report, err
}

// place returns a place for a queue of that name.
func (r *rig) place(name string) (queues.Place, error) {
	base := filepath.Join(r.scratch, fmt.Sprintf("%s-%s-%d", name, r.commit, os.Getpid()))
	p := queues.Place{Bin: r.bin, Base: base, Linked: r.commit == "link", Seed: rand.Uint64() >> 1}
	for host := range r.dir {
		p.Hosts = append(p.Hosts, queues.Host{Enter: r.enter[host],
			Ledger: filepath.Join(r.dir[host], filepath.Base(base))})
	}
	for _, variable := range []string{"GODEBUG", "GLIBC_TUNABLES"} { // see fxsr
		if value, ok := os.LookupEnv(variable); ok {
			p.Env = append(p.Env, variable+"="+value)
		}
	}
	return p, os.Mkdir(base, 0o700)
}
