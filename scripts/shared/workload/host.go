//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// orders are what one host has to do.
type orders struct {
	Bin, Ledger string
	Host        string
	Writers     int
	Edits       int
	Patience    time.Duration
	Pause       time.Duration // of a writer between two edits
	Watch       time.Duration // how long to read at least
}

// A record is one command that a host has run.
type record struct {
	Verb       string // push, heartbeat, pop or status
	Call       string
	Writer     string
	Status     int
	Revision   int64
	Changed    bool
	Start, End time.Duration
	Text       string // of an error
}

// edit makes both hosts write. It returns what they have run, how long that took, and how often
// host a was cut off.
func (r *rig) edit(ledger string) (all []record, took time.Duration, cuts int) {
	done, parted := make(chan struct{}), make(chan int)
	go func() { parted <- r.parting(done) }()
	start := clock()
	o := orders{Writers: r.writers, Edits: r.edits, Patience: r.patience}
	all = r.order(ledger, o, o)
	took = clock() - start
	close(done)

	return all, took, <-parted
}

// watch makes host a only read while host b edits now and then, so that nothing that host a does
// itself refreshes its caches.
func (r *rig) watch(ledger string) []record {
	const long = 30 * time.Second
	return r.order(ledger, orders{Watch: long},
		orders{Writers: 1, Edits: 1000, Patience: long, Pause: 2 * time.Second})
}

// order makes the hosts carry out their orders, and returns what they have run. It does not wait
// for commands that are stuck in a system call: they end with the driver's namespaces.
func (r *rig) order(ledger string, both ...orders) (all []record) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	self, err := os.Executable()
	check(err)
	var patience time.Duration

	for host, o := range both {
		patience = max(patience, o.Patience+o.Watch+2*time.Minute)
		o.Bin, o.Ledger, o.Host = r.bin, filepath.Join(r.dir[host], ledger), string(rune('a'+host))
		text, err := json.Marshal(o)
		check(err)
		argv := append(append([]string{}, r.enter[host]...), self, "host")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
		out, err := cmd.StdoutPipe()
		check(err)
		check(cmd.Start())
		wg.Go(func() {
			for d := json.NewDecoder(bufio.NewReader(out)); ; {
				var rec record
				if d.Decode(&rec) != nil {
					break
				}
				mu.Lock()
				all = append(all, rec)
				mu.Unlock()
			}

			check(cmd.Wait())
		})
	}

	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		r.stuck = true
	}

	mu.Lock()
	defer mu.Unlock()

	return slices.Clone(all)
}

// A host is where orders are carried out.
type host struct {
	orders
	mu       sync.Mutex
	out      *json.Encoder
	deadline time.Duration
}

// carryOut runs the writers, and one reader as long as there are writers.
func (o orders) carryOut() {
	h := &host{orders: o, out: json.NewEncoder(os.Stdout), deadline: clock() + o.Patience}
	done := make(chan struct{})
	var writers, reader sync.WaitGroup
	for n := range o.Writers {
		writers.Go(func() { h.write(fmt.Sprintf("%s%d", o.Host, n)) })
	}

	reader.Go(func() { h.read(done) })
	writers.Wait()
	time.Sleep(o.Watch)
	close(done)
	reader.Wait()
}

// run runs one command and writes it down.
func (h *host) run(writer, verb, call string, args ...string) record {
	argv := []string{filepath.Join(h.Bin, "dpl-"+verb), "--json", "--op", operation}
	if call != "" {
		argv = append(argv, "--call", call)
	}

	a := execute(h.Ledger, append(argv, args...)...)
	rec := record{Verb: verb, Call: call, Writer: writer, Status: a.status, Start: a.start,
		End: a.end}
	switch {
	case a.status != 0:
		rec.Text = a.text()
	case verb == "status":
		s, err := a.state()
		if rec.Revision = s.Operation.Revision; err != nil {
			rec.Status, rec.Text = 65, err.Error()
		}
	default:
		e := a.edit()
		rec.Revision, rec.Changed = e.Revision, e.Changed
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	check(h.out.Encode(rec))

	return rec
}

// again reports whether a status says that nothing was changed and that it may be tried again.
func again(status int) bool { return status == 74 || status == 75 }

// edit runs a command until it is done or refused for good. It reports whether it was done.
func (h *host) edit(writer, verb, call string, args ...string) bool {
	time.Sleep(h.Pause)
	for {
		rec := h.run(writer, verb, call, args...)
		if !again(rec.Status) || clock() > h.deadline {
			return rec.Status == 0 || rec.Status == 71
		}
		if rec.Status == 74 {
			time.Sleep(50 * time.Millisecond) // there may be no network
		}
	}
}

// write makes a host's edits: a push, a heartbeat and a pop, again and again. Every hundredth call
// stays open.
func (h *host) write(writer string) {
	for k, edits := 0, 0; edits < h.Edits && clock() < h.deadline; k++ {
		call := fmt.Sprintf("%s-%d-%d", writer, k, os.Getpid())
		edits++
		if !h.edit(writer, "push", call, "--participant", writer) || edits == h.Edits {
			continue
		}

		edits++
		if !h.edit(writer, "heartbeat", call) || edits == h.Edits || k%100 == 0 {
			continue
		}

		edits++
		h.edit(writer, "pop", call)
	}
}

// read looks at the operation again and again, without a lock, as a person or a monitor would.
func (h *host) read(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
			h.run("reader "+h.Host, "status", "")
		}
	}
}
