package serve

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

type serve struct {
	account runner.Account

	cli.Common `embed:""`

	Group     cli.ID `env:"DPL_GROUP" unless:"service" placeholder:"GROUP"`
	Service   cli.ID `env:"DPL_SERVICE,DPL_SUPERVISOR" unless:"group" placeholder:"SERVICE"`
	Heartbeat bool

	runner.Flags     `embed:""`
	runner.Notifying `embed:""`

	Command []string `arg:"" name:"COMMAND" optional:"" passthrough:"partial" dashed:"" placeholder:"-- COMMAND [ARG...]"`
}

// Leading returns the flags whose values may be the first arguments.
func (*serve) Leading() string { return "group service" }

// Refuses makes it a cli.Refuser.
func (*serve) Refuses() []string { return []string{"json"} }
