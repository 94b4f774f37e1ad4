//go:build linux

package pipes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// A record is what the file of the operation says.
type record struct {
	State string `json:"state"`
	Stack []struct {
		CallID string `json:"callId"`
		PID    int    `json:"pid"`
	} `json:"stack"`
	Transitions []struct {
		From   string `json:"from"`
		Reason string `json:"reason"`
		Cause  *struct {
			Call string `json:"call"`
		} `json:"cause"`
	} `json:"transitions"`
	Events []struct {
		Type   string `json:"type"`
		CallID string `json:"callId"`
	} `json:"events"`
}

// read returns the record of the operation in dir. It is empty if there is none.
func read(dir string) (r record, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "ledger", "operations", "n.json"))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// begun reports whether a call has begun.
func (r record) begun(call string) bool {
	for _, e := range r.Events {
		if e.Type == "callStarted" && e.CallID == call {
			return true
		}
	}
	return false
}

// allBegun reports whether all calls have begun.
func (r record) allBegun(calls []string) bool {
	return !slices.ContainsFunc(calls, func(call string) bool { return !r.begun(call) })
}

// cause returns the call that made the operation fail, and the reason. call is "" if the record
// does not name it.
func (r record) cause() (call, reason string) {
	for _, t := range r.Transitions {
		if t.From != "running" {
			continue
		}
		if t.Cause != nil {
			call = t.Cause.Call
		}
		return call, t.Reason
	}
	return "", ""
}

// ended reports whether the operation has ended.
func (r record) ended() bool { return r.State == "completed" || r.State == "failed" }
