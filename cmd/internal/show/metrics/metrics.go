// Package metrics says what operations, groups and queues are like now in the text format of
// Prometheus, for node_exporter's textfile collector. It is pure: observations in, text out.
//
// The number of series depends on the services, groups and queues of a ledger, and not on how much
// work they do: tasks and attempts are only counted, and calls have series of their own only if one
// operation is asked for. [Subject.Text] returns the text; spec/observing.md lists the metrics.
package metrics

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol"
)

// A Subject is what to tell about.
type Subject struct {
	Operations []model.Operation
	Groups     []model.Group
	Queues     []model.Queue
	Now        time.Time
	Unreadable Unreadable
	Version    string // of DPL
	Counts     bool   // tell how many operations and calls there are
	Calls      bool   // tell about each operation, and each of its calls
}

// Unreadable says how many files of each kind could not be read.
type Unreadable struct{ Operations, Groups, Queues int }

// Text returns the metrics of s.
func (s Subject) Text() string {
	x := &exposition{}
	s.ledger(x)
	if s.Counts {
		s.operations(x)
	}
	if s.Calls {
		s.calls(x)
	}
	writeAll(x, groupMetrics(), s.Groups, groupLabels)
	writeAll(x, serviceMetrics(), s.services(), serviceLabels)
	writeAll(x, queueMetrics(), s.Queues, queueLabels)
	writeAll(x, questionMetrics(), s.questionQueues(), queueLabels)
	return x.end()
}

// ledger tells about the look itself.
func (s Subject) ledger(x *exposition) {
	x.write(family{"dpl_build_info", gauge, "Always 1; the label is the version of DPL."},
		[]sample{one(1, "version", s.Version)})
	x.write(family{"dpl_observed_timestamp_seconds", gauge,
		"When dpl-status looked: ages are of then."}, []sample{one(timestamp(s.Now))})
	x.write(family{"dpl_unreadable", gauge,
		"Files that could not be read; nothing else tells about them."}, []sample{
		one(float64(s.Unreadable.Operations), "kind", "operation"),
		one(float64(s.Unreadable.Groups), "kind", "group"),
		one(float64(s.Unreadable.Queues), "kind", "queue"),
	})
}

// operations counts operations and calls.
func (s Subject) operations(x *exposition) {
	states := newCount(protocol.Running, protocol.Aborted, protocol.Cleanup, protocol.Completed,
		protocol.Failed)
	calls := newCount(protocol.FrameActive, protocol.FrameAborted, protocol.FrameCleaningUp,
		protocol.FrameCrashed, protocol.FrameCleanedUp)
	undiscovered := 0

	for _, op := range s.Operations {
		states.add(op.State)
		for _, f := range op.Stack {
			calls.add(f.State)
		}
		if !op.Archived {
			undiscovered += op.Undiscovered()
		}
	}

	x.write(family{"dpl_operations", gauge, "Operations by state."}, states.samples("state"))
	x.write(family{"dpl_calls", gauge, "Calls of these operations by state."},
		calls.samples("state"))
	x.write(family{"dpl_calls_undiscovered", gauge, "Calls that look dead, and that no command " +
		"has declared crashed yet."}, []sample{one(float64(undiscovered))})
}

// calls tells about each operation, and about each call of those that are not over.
func (s Subject) calls(x *exposition) {
	var calls []model.Call
	for _, op := range s.Operations {
		if !op.Archived && !op.State.Terminal() {
			calls = append(calls, op.Calls()...)
		}
	}

	writeAll(x, operationMetrics(), s.Operations, operationLabels)
	writeAll(x, callMetrics(), calls, callLabels)
}

// services returns the services of all groups.
func (s Subject) services() (all []model.Service) {
	for _, g := range s.Groups {
		all = append(all, g.Services()...)
	}
	return all
}
