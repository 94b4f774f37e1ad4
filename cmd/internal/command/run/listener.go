package run

import (
	"io/fs"

	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// listener returns a listener for the command of call, or nil if silence does not matter.
func (c *run) listener(call *call) (*runner.Listener, error) {
	if !c.Limits().Given() {
		return nil, nil
	}
	output, err := c.OutputOf(c.stdout(), nil)
	if err != nil {
		return nil, err
	}
	return runner.NewListener(call.Env, &c.Flags, call, call.Name(), call.IDs, output, nil), nil
}

// stdout returns a function that describes the file of --to, or nil without that flag.
func (c *run) stdout() func() (fs.FileInfo, error) {
	if c.To == "" {
		return nil
	}
	return c.results.look
}
