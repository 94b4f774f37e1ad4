//go:build linux

package queues

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// A Report is what a run has done and found.
type Report struct {
	Clients   int
	Commands  int
	Revisions int64
	Claims    int64
	Kills     map[string]int   `json:",omitempty"` // by what was killed
	Ends      map[string]int64 `json:",omitempty"` // of attempts
	Refused   map[string]int   `json:",omitempty"` // by status: nothing changed, try again; or unknown
	Histories int              `json:",omitempty"` // that porcupine has explained
	Undecided int              `json:",omitempty"` // that it has not, in its time
	Took      map[string]int64 `json:",omitempty"` // ms until a task came back, by what ended its claim
	Missing   []string         `json:",omitempty"` // what has not happened
	Faults    []string         `json:",omitempty"`
}

// Crowd has clients use a queue for period, then do all tasks that are left, and judges all of it.
func Crowd(p Place, clients int, period time.Duration) (Report, error) {
	w, err := crowd(p, clients, period)
	if err != nil {
		return Report{}, err
	}
	r := w.found(clients)
	r.Missing = w.missing()
	return r, nil
}

// Histories has porcupine explain n histories of clients that use a queue of their own.
func Histories(p Place, n, clients, commands int) (Report, error) {
	all := Report{Clients: clients, Refused: make(map[string]int)}
	for i := range n {
		h, err := record(p.numbered(i), clients, commands)
		if err != nil {
			return all, err
		}
		switch h.judge() {
		case porcupine.Ok:
			all.Histories++
		case porcupine.Unknown:
			all.Undecided++
		default:
			h.w.fault("porcupine cannot explain it:\n%s", h)
		}

		one := h.w.found(clients)
		all.Commands += one.Commands
		all.Revisions += one.Revisions
		all.Claims += one.Claims
		for status, times := range one.Refused {
			all.Refused[status] += times
		}
		all.Faults = append(all.Faults, one.Faults...)
	}
	return all, nil
}

// numbered returns p with other ledgers and plans.
func (p Place) numbered(i int) Place {
	p.Seed += uint64(i)
	hosts := make([]Host, len(p.Hosts))
	for k, h := range p.Hosts {
		hosts[k] = Host{h.Enter, h.Ledger + "-" + strconv.Itoa(i)}
	}
	p.Hosts = hosts
	return p
}

// found returns the report of w.
func (w *world) found(clients int) Report {
	r := Report{Clients: clients, Commands: len(w.calls), Revisions: w.q.Revision, Claims: w.q.LastEpoch,
		Kills: w.kills, Ends: make(map[string]int64), Refused: make(map[string]int), Faults: w.faults}
	for _, e := range w.q.Counters.Ends {
		r.Ends[string(e.End)] = e.Count
	}
	for _, c := range w.calls {
		if c.again() || c.status == 71 {
			r.Refused[fmt.Sprintf("%s %d", filepath.Base(c.args[0]), c.status)]++
		}
	}
	return r
}
