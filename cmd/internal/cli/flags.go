package cli

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// Flags are the flags of every command.
type Flags struct {
	Ledger      string   `placeholder:"DIR" help:"Ledger directory ($$DPL_LEDGER, else $$XDG_STATE_HOME/dpl, else ~/.local/state/dpl)."`
	LockTimeout Duration `placeholder:"5s" default:"5s" help:"How long to wait for another command; then exit 75."`
	Sync        string   `placeholder:"none|file|full" help:"How much to fsync; the default is full, file for a plain heartbeat ($$DPL_SYNC)."`
	TrustGroup  bool     `help:"On a shared ledger, delete what other members of the group name."`
	JSON        bool     `name:"json" help:"Print one JSON document."`
	DryRun      bool     `short:"n" help:"Print the change to the operation, and make none."`
	Verbose     bool     `short:"v" help:"Say on stderr what is done."`
	Now         string   `placeholder:"TIME" help:"Take TIME for the time ($$DPL_NOW); for tests and replay."`
	Version     bool     `help:"Print the version."`
}

func (f *Flags) flags() *Flags { return f }

// Operation is the flag of commands on one operation.
type Operation struct {
	Flags `embed:""`
	Op    string `placeholder:"OP" help:"Operation ($$DPL_OP)."`
}

// Call is the flags of commands on one call.
type Call struct {
	Operation `embed:""`
	Call      string `placeholder:"CALL" help:"Call ($$DPL_CALL)."`
}

// A Duration is a flag in the syntax of Go, like 1m30s, or bare seconds.
type Duration time.Duration

// UnmarshalText parses text.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		s = strconv.FormatFloat(n, 'f', -1, 64) + "s"
	}
	parsed, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration %q: want seconds, or a number with a unit like 500ms or 1m30s", text)
	}
	if parsed < 0 {
		return fmt.Errorf("duration %q is negative", text)
	}
	*d = Duration(parsed)
	return nil
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

// OperationID returns the operation to work on.
func (o *Operation) OperationID() (string, error) { return Required("--op", o.Op, "DPL_OP") }

// IDs returns the operation and the call to work on.
func (c *Call) IDs() (op, call string, err error) {
	if op, err = c.OperationID(); err == nil {
		call, err = Required("--call", c.Call, "DPL_CALL")
	}
	return op, call, err
}
