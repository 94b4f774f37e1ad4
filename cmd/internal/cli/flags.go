package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// Common is the flags of every command.
type Common struct {
	common `embed:"" group:"Flags of every command:"`
	given  []string
}

type common struct {
	Ledger      Path   `env:"DPL_LEDGER" placeholder:"DIR" help:"ledger directory; without one $XDG_STATE_HOME/dpl, else ~/.local/state/dpl"`
	LockTimeout Pause  `default:"5s" placeholder:"D" help:"how long to wait for another command, then exit 75 (${default})"`
	Sync        string `env:"DPL_SYNC" default:"" enum:"none,file,full," help:"how much to fsync; full, but file for a plain heartbeat"`
	TrustGroup  bool   `help:"on a shared ledger, act on what other members of the group have written"`
	JSON        bool   `help:"print one JSON document"`
	DryRun      bool   `short:"n" help:"print the change, and make none"`
	Verbose     bool   `short:"v" help:"say on stderr what is done"`
	Now         Moment `env:"DPL_NOW" placeholder:"TIME" help:"take TIME for the time; what changes something needs --dry-run as well, or $DPL_REPLAY"`
	Version     bool   `help:"print the version"`
	Help        bool   `short:"h" help:"print this; with --json, as a model for programs"`
}

// CommonFlags returns c.
func (c *Common) CommonFlags() *Common { return c }

// Given reports whether one of flags was on the command line. The environment gives none.
func (c *Common) Given(flags ...string) bool {
	return slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(c.given, flag) })
}

func (c *Common) define(f *FlagSet) {
	c.LockTimeout = Pause(5 * time.Second)
	f.String((*string)(&c.Ledger), "ledger", "DIR", "ledger directory ($DPL_LEDGER, else $XDG_STATE_HOME/dpl, else ~/.local/state/dpl)")
	f.Duration((*time.Duration)(&c.LockTimeout), "lock-timeout", "how long to wait for another command, then exit 75 (5s)", 0)
	Word(f, &c.Sync, "sync", "", "how much to fsync ($DPL_SYNC; full, but file for a plain heartbeat)", "none", "file", "full")
	f.Bool(&c.TrustGroup, "trust-group", "on a shared ledger, act on what other members of the group have written")
	f.Bool(&c.JSON, "json", "print one JSON document")
	f.Bool(&c.DryRun, "dry-run", "print the change, and make none")
	f.Short("n")
	f.Bool(&c.Verbose, "verbose", "say on stderr what is done")
	f.Short("v")
	f.add(commandFlag{name: "now", placeholder: "TIME", value: func(s string) error {
		c.given = append(c.given, "now")
		return c.Now.UnmarshalText([]byte(s))
	}, help: "take TIME for the time ($DPL_NOW); what changes something needs --dry-run as well, or $DPL_REPLAY"})
	f.Bool(&c.Version, "version", "print the version")
}

// complete fills what the flags did not give from the environment.
func (c *Common) complete() error {
	c.Ledger = cmp.Or(c.Ledger, Path(os.Getenv("DPL_LEDGER")))
	c.Sync = cmp.Or(c.Sync, os.Getenv("DPL_SYNC"))
	if now := os.Getenv("DPL_NOW"); now != "" && c.Now.IsZero() {
		if err := c.Now.UnmarshalText([]byte(now)); err != nil {
			return Usagef("--now: %v", err)
		}
	}
	if _, known := syncs[c.Sync]; !known {
		return Usagef("$DPL_SYNC: want none, file or full, not %q", c.Sync)
	}
	return nil
}

// Operation is the flags of commands on one operation.
type Operation struct {
	Common
	Op string
}

// Define defines --op.
func (o *Operation) Define(f *FlagSet) { f.String(&o.Op, "op", "OP", "operation ($DPL_OP)") }

// OperationID returns the operation to work on.
func (o *Operation) OperationID() (string, error) { return Required("--op", o.Op, "DPL_OP") }

// Group is the flags of commands on one group.
type Group struct {
	Common
	Group string
}

// Define defines --group.
func (g *Group) Define(f *FlagSet) {
	f.String(&g.Group, "group", "GROUP", "group of services ($DPL_GROUP)")
}

// GroupID returns the group to work on.
func (g *Group) GroupID() (string, error) { return Required("--group", g.Group, "DPL_GROUP") }

// Service is the flags of commands on one service of a group.
type Service struct {
	Group
	Service string
}

// Define defines --group and --service, which older scripts call --supervisor.
func (s *Service) Define(f *FlagSet) {
	s.Group.Define(f)
	f.String(&s.Service, "service", "ID", "service ($DPL_SERVICE)")
	f.Alias("supervisor")
}

// IDs returns the group and the service to work on.
func (s *Service) IDs() (group, service string, err error) {
	if group, err = s.GroupID(); err == nil {
		service, err = Required("--service", s.Service, ServiceVariable())
	}
	return group, service, err
}

// Services is the flags of commands on one service of a group, or on all of them.
type Services struct {
	Service
	All bool
}

// Define defines --group, --service and --all.
func (s *Services) Define(f *FlagSet) {
	s.Service.Define(f)
	f.Bool(&s.All, "all", "all services of the group, in the order of their dependencies")
}

// IDs returns the group and the service to work on; with --all, no service.
func (s *Services) IDs() (group, service string, err error) {
	switch {
	case s.All && s.Service.Service != "":
		return "", "", Usagef("--all and --service exclude each other")
	case s.All:
		group, err = s.GroupID()
		return group, "", err
	}
	return s.Service.IDs()
}

// A Wish is for services to be stopped, or stopped and started again: the flags of the commands that ask for it.
type Wish struct {
	Services
	Only, Wait bool
	Timeout    time.Duration
}

// Define defines the flags. only and wait are their helps, and timeout is the default.
func (w *Wish) Define(f *FlagSet, only, wait string, timeout time.Duration) {
	w.Services.Define(f)
	w.Timeout = timeout
	f.Bool(&w.Only, "only", only)
	f.Bool(&w.Wait, "wait", wait)
	short := strings.Replace(timeout.String(), "m0s", "m", 1)
	f.Duration(&w.Timeout, "timeout", "with --wait: give up after D, with status 124 ("+short+")", time.Millisecond)
}

// Open returns the ledger, the group and the service that something is asked for, and who asks.
func (w *Wish) Open(env *Env) (l *fileops.Ledger, group, service, by string, err error) {
	if group, service, err = w.IDs(); err != nil {
		return nil, "", "", "", err
	}
	switch {
	case w.All && w.Only:
		err = Usagef("--only goes with --service")
	case w.Wait && env.DryRun():
		err = Usagef("--wait does not go with --dry-run")
	default:
		by, err = env.ActorID()
	}
	if err == nil {
		l, err = env.Open()
	}
	return l, group, service, by, err
}

// ServiceVariable returns the variable that names the service where no flag does: $DPL_SERVICE, or
// $DPL_SUPERVISOR, as it was called before.
func ServiceVariable() string {
	if os.Getenv("DPL_SERVICE") == "" && os.Getenv("DPL_SUPERVISOR") != "" {
		return "DPL_SUPERVISOR"
	}
	return "DPL_SERVICE"
}

// Call is the flags of commands on one call.
type Call struct {
	Operation
	Call string
}

// Define defines --op and --call.
func (c *Call) Define(f *FlagSet) {
	c.Operation.Define(f)
	f.String(&c.Call, "call", "CALL", "call ($DPL_CALL)")
}

// IDs returns the operation and the call to work on.
func (c *Call) IDs() (op, call string, err error) {
	if op, err = c.OperationID(); err == nil {
		call, err = Required("--call", c.Call, "DPL_CALL")
	}
	return op, call, err
}

// ID returns the id given by a flag, or by the environment variable; "" if by neither. It returns a usage error if it is
// not an id.
func ID(flag, value, variable string) (string, error) {
	if value == "" && variable != "" {
		value, flag = os.Getenv(variable), "$"+variable
	}
	if value == "" {
		return "", nil
	}
	if err := protocol.CheckID(value); err != nil {
		return "", Usagef("%s: %v", flag, err)
	}
	return value, nil
}

// Required is ID for an id that has to be given.
func Required(flag, value, variable string) (string, error) {
	id, err := ID(flag, value, variable)
	if err == nil && id == "" {
		return "", Usagef("%s is required, or $%s", flag, variable)
	}
	return id, err
}
