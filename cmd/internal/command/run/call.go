package run

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// newCall returns the call that the flags ask for.
func (c *run) newCall(env *cli.Env) (*call, error) {
	p, op, err := c.Arguments(env, cmp.Or(c.Participant, cli.ID(participantOf(c.Command[0]))))
	if err != nil {
		return nil, err
	}

	p.Tmp, p.Process = true, runner.Self()
	p.PID = p.Process.PID
	if c.Notify {
		p.Readiness = observe.ReadinessStarting
	}

	l, err := c.Open(env)
	if err == nil {
		err = c.openResults(env, l)
	}

	return &call{Call: &calls.Call{Env: env, Ledger: l, Op: op, Push: p}, flags: c}, err
}

// participantOf returns the file name of command as an id, with - for characters not allowed there.
func participantOf(command string) string {
	name := []byte(filepath.Base(command))
	for i, b := range name {
		if !strings.ContainsRune("._:-", rune(b)) && !alphanumeric(b) {
			name[i] = '-'
		}
	}

	id := strings.ReplaceAll(strings.TrimLeft(string(name), "._:-"), "..", "--")
	id = id[:min(len(id), 60)]
	if wire.CheckID(id) != nil {
		return "command"
	}
	return id
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
