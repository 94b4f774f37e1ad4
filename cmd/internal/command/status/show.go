package status

import (
	"io"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/cmd/internal/show/table"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

type reporter struct {
	env    *cli.Env
	ledger *fileops.Ledger
	clock  func() observe.Observation
	format *format // nil: text, or JSON
}

// show prints the subject as text or JSON.
func (s *reporter) show(what subject) error {
	p, err := s.look(what)
	if err != nil {
		return err
	}

	p.warn(s.env)
	if s.machine() {
		if err := s.print(p.json(), p.list()); err != nil {
			return err
		}
	} else {
		io.WriteString(s.env.Stdout, p.draw(screen.Style()))
	}
	return cli.Exit(p.status())
}

// warn prints the warnings.
func (p picture) warn(env *cli.Env) {
	for _, err := range p.warnings {
		env.Warnf("%v", err)
	}
}

// status returns the exit status for the warnings.
func (p picture) status() int {
	worst := cli.StatusOK
	for _, err := range p.warnings {
		worst = cli.Worse(worst, cli.StatusOf(err))
	}
	return worst
}

// draw returns p as text.
func (p picture) draw(style table.Style) string {
	switch {
	case p.queue != "":
		return style.Queue(p.queues[0])
	case p.group != "":
		var drawn []string
		for _, g := range p.groups {
			drawn = append(drawn, style.Group(g, p.service))
		}
		return strings.Join(drawn, "\n")
	case p.supervisor != "":
		return style.Supervised(p.supervised())
	case p.op != "":
		return style.Operation(p.ops[0])
	}
	return style.Ledger(p.listing())
}

// over returns the final state of the operation or queue, or "" if it goes on or more than it is
// shown.
func (p picture) over() string {
	if p.queue != "" {
		if state := p.queues[0].State(); state == queue.Completed {
			return string(state)
		}
		return ""
	}
	if p.op == "" || p.supervisor != "" || !p.ops[0].Archived && !p.ops[0].State.Terminal() {
		return ""
	}
	return string(p.ops[0].State)
}
