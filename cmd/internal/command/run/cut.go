package run

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// cutOff fails the call if one of pids, which its command has left and which will be stopped, may
// still write what others take for whole: a result, or the input of the next stage (spec §15.2).
// files are the descriptors of the command, or nil.
func (c *call) cutOff(pids []int, files []uintptr) {
	out, dir := -1, ""
	switch {
	case c.flags.To != "" || files != nil && c.passesOn():
		out = int(files[1])
	case c.passesOn():
		out = 1
	}
	if len(c.flags.results.sources) > 0 {
		dir = c.Tmp()
	}
	if writing := stillWriting(pids, out, dir); len(writing) > 0 {
		c.flags.results.fail(fmt.Errorf("use its output: when the command had ended, %s could still "+
			"write to it", runner.Names(writing)))
	}
}

// passesOn reports whether stdout leads to another stage of a pipeline in the operation.
func (c *call) passesOn() bool {
	return len(c.callers) > 0 && slices.Contains(c.flags.held, 1) &&
		len((&hold{ledger: c.Ledger, observe: c.Env.Observer(), op: c.Op, callers: c.callers,
			held: []int{1}}).own()) > 0
}
