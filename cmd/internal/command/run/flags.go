// Package run is dpl-run: see cmd/dpl-run.
package run

import (
	"fmt"
	"math"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

type run struct {
	account runner.Account
	results results
	call    *call // nil if the flags were wrong
	held    []int // descriptors that outlive the call if the operation fails: see hold

	Participant cli.ID `placeholder:"ID"`

	cli.Push `embed:""`

	CallerDecides bool

	OnFailure cli.Word `placeholder:"CMD"`

	Wait    waitLimit `placeholder:"D"`
	Join    bool
	NoRerun bool

	KeepResources bool

	runner.Flags `embed:""`

	Retry   cli.Count         `placeholder:"N"`
	Backoff *cli.Backoff      `placeholder:"D,..."`
	To      cli.Word          `placeholder:"FILE"`
	Publish []cli.Publication `placeholder:"SRC=DST"`

	runner.Notifying `embed:""`

	Command []string `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[--] COMMAND [ARG...]"`
}

// A call is the call of an operation whose command dpl-run runs.
type call struct {
	*calls.Call
	flags  *run
	inside bool // it is part of another call of the operation
	began  bool // its push created the operation
	judged bool // the caller decides what a failure means
	// the last run of which nothing is left, and of whose failure was told
	cleared string
	// the calls that wait for this one, as far as they were known when it began
	callers []string
}

// A waitLimit is how long to wait for the run that is there: a time span, or infinity.
type waitLimit time.Duration

// UnmarshalText parses infinity, or text with cli.ParseDuration.
func (w *waitLimit) UnmarshalText(text []byte) error {
	if string(text) == "infinity" {
		*w = math.MaxInt64
		return nil
	}
	d, err := cli.ParseDuration(string(text), 0)
	if err != nil {
		err = fmt.Errorf("%w, or infinity", err)
	}
	*w = waitLimit(d)
	return err
}

// Refuses makes it a cli.Refuser.
func (*run) Refuses() []string { return []string{"json"} }

// named reports whether the operation has a name that others know.
func (c *run) named() bool { return c.Op != "" }
