package cli

import (
	"reflect"
	"slices"

	"github.com/dpl-project/dpl/fileops"
)

// Common has the flags of every command.
type Common struct {
	common `embed:"" group:"Flags of every command:"`
	given  []string
}

type common struct {
	Ledger      Path   `env:"DPL_LEDGER" placeholder:"DIR"`
	LockTimeout Pause  `default:"5s" placeholder:"D"`
	Sync        string `env:"DPL_SYNC" default:"" enum:"none,file,full,"`
	TrustOwner  Word   `env:"DPL_TRUST_OWNER" placeholder:"USER"`
	TrustGroup  bool   `env:"DPL_TRUST_GROUP"`
	JSON        bool   `help:"print one JSON document"`
	DryRun      bool   `short:"n" help:"print the change without making it"`
	Verbose     bool   `short:"v" help:"report on stderr what is done"`
	Now         Moment `env:"DPL_NOW" placeholder:"TIME"`
	Version     bool   `help:"print the version, its commit and date, and that of Go"`
	Help        bool   `short:"h" help:"print this help; with --json, as a model for programs"`
}

// CommonFlags returns c.
func (c *Common) CommonFlags() *Common { return c }

// Leading returns "", because most commands have only flags.
func (*Common) Leading() string { return "" }

// Given reports whether one of flags was on the command line. The environment does not count.
func (c *Common) Given(flags ...string) bool {
	return slices.ContainsFunc(flags,
		func(flag string) bool { return slices.Contains(c.given, flag) })
}

// GivenBesides returns the flags on the command line, except flags and those of every command.
func (c *Common) GivenBesides(flags ...string) []string {
	every := reflect.TypeFor[common]()
	return slices.DeleteFunc(slices.Clone(c.given), func(flag string) bool {
		_, of := every.FieldByNameFunc(func(name string) bool { return flagName(name) == flag })
		return of || slices.Contains(flags, flag)
	})
}

// Wish has the flags of the commands that ask for services to be stopped or restarted.
type Wish struct {
	Common `embed:""`

	Group   ID   `env:"DPL_GROUP" placeholder:"GROUP" required:"" help:"group of services"`
	Service ID   `aliases:"supervisor" env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID"`
	All     bool `help:"all services of the group, in the order of their dependencies"`
}

// Validate returns an error for flags that do not go together.
func (w *Wish) Validate() error {
	switch {
	case w.All && w.Given("service"):
		return Usagef("--all and --service exclude each other")
	case w.All && w.Given("only"):
		return Usagef("--only goes with --service")
	case !w.All && w.Service == "":
		return Usagef("--service or --all is required, or $DPL_SERVICE")
	case w.Given("wait") && w.DryRun:
		return Usagef("--wait does not go with --dry-run")
	}

	if w.All {
		w.Service = ""
	}

	return nil
}

// Open returns the ledger, the group and the service of the request, and the id of the requester.
func (w *Wish) Open(env *Env) (l *fileops.Ledger, group, service, by string, err error) {
	if by, err = env.ActorID(); err == nil {
		l, err = env.Open()
	}
	return l, string(w.Group), string(w.Service), by, err
}
