package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Push has the flags of commands that push a call.
type Push struct {
	Common `embed:""`

	Op            ID                    `env:"DPL_OP" placeholder:"OP" help:"operation (a new id)"`
	Call          ID                    `placeholder:"CALL" help:"call (a new id)"`
	Caller        Word                  `placeholder:"CALL"`
	Supervisor    ID                    `env:"DPL_SUPERVISOR" placeholder:"ID"`
	Handle        Text                  `placeholder:"TEXT"`
	OrphanPolicy  protocol.OrphanPolicy `default:"" enum:"crash,keep,"`
	Description   Text                  `placeholder:"TEXT" help:"description for people"`
	Resource      []Word                `placeholder:"PATH"`
	NoFailOnCrash bool                  `help:"keep the operation running if this call crashes"`
	Heartbeat     bool
	Staleness     Span      `placeholder:"D"`
	Interval      Span      `placeholder:"D"`
	NoCreate      bool      `help:"fail if the operation does not exist"`
	NewLedger     NewLedger `embed:""`
}

// Validate returns an error for flags that do not go together.
func (c *Push) Validate() error {
	interval, threshold := time.Duration(c.Interval), time.Duration(c.Staleness)
	if err := CheckStaleness(c.Staleness); err != nil {
		return err
	}

	threshold = cmp.Or(threshold, protocol.DefaultStalenessThreshold)
	switch {
	case c.OrphanPolicy != "" && c.Supervisor == "":
		return Usagef("--orphan-policy goes with --supervisor")
	case c.Handle != "" && c.Supervisor == "":
		return Usagef("--handle goes with --supervisor")
	case interval >= threshold:
		return Usagef("--interval %v must be less than --staleness %v", interval, threshold)
	}

	return nil
}

// CheckStaleness returns an error for a threshold too short for any heartbeat.
func CheckStaleness(threshold Span) error {
	if threshold != 0 && time.Duration(threshold) < 2*time.Millisecond {
		return Usagef("--staleness: want at least 2ms")
	}
	return nil
}

// Arguments returns the push for the flags, made by participant, and its operation.
func (c *Push) Arguments(env *Env, participant ID) (p protocol.Push, op string, err error) {
	p = protocol.Push{
		Participant: string(participant), Run: env.RunOf(string(c.Op)),
		Supervisor: string(c.Supervisor), Call: string(c.Call),
		Handle: string(c.Handle), Description: string(c.Description), Contained: c.NoFailOnCrash,
		Traceparent:  os.Getenv("TRACEPARENT"),
		OrphanPolicy: c.OrphanPolicy, Heartbeats: c.Heartbeat,
		Interval: time.Duration(c.Interval), Threshold: time.Duration(c.Staleness),
	}

	op = string(c.Op)
	if p.Caller, err = c.callerIn(env, op); err != nil {
		return p, "", err
	}
	if p.Resources, err = Absolute(c.Resource); err != nil {
		return p, "", err
	}
	if p.Call == "" {
		p.Call = newID(p.Participant, "")
	}
	if op == "" {
		op = newID(env.Now().Format("20060102T150405"), "-"+p.Participant)
	}

	return p, op, nil
}

// noCaller is the value of --caller for a call without a caller. It is not an id.
const noCaller = "-"

// callerIn returns the caller of a call in op: that of --caller, or else $DPL_CALL, unless $DPL_OP
// says that it belongs to another operation.
func (c *Push) callerIn(env *Env, op string) (string, error) {
	if c.Caller == noCaller {
		return "", nil
	}

	if c.Caller != "" {
		if err := wire.CheckID(string(c.Caller)); err != nil {
			return "", Usagef("--caller: %v", err)
		}
		return string(c.Caller), nil
	}

	own, caller := env.Variable("DPL_OP"), env.Variable("DPL_CALL")
	if own != "" && own != op || wire.CheckID(caller) != nil {
		return "", nil
	}

	return caller, nil
}

// RunOf returns the run of the operation op that this process is part of: $DPL_RUN, if $DPL_OP is op
// (spec §15.1). It returns "" if it is part of none.
func (env *Env) RunOf(op string) string {
	run := env.Variable("DPL_RUN")
	if op == "" || env.Variable("DPL_OP") != op || wire.CheckID(run) != nil {
		return ""
	}
	return run
}

// MadeUp reports whether the id of the operation or the call is made up. Then it must be printed.
func (c *Push) MadeUp() bool { return c.Call == "" || c.Op == "" }

// newID returns an id that begins with the two words and ends with random characters.
func newID(first, second string) string {
	const most = 100
	words := first + second
	if len(words) > most {
		words = strings.TrimRight(words[:most], ".")
	}
	return fmt.Sprintf("%s-%08x", words, rand.Uint32())
}

// Open opens the ledger for a push, and creates it if allowed. With --dry-run it returns an absent
// one if there is none.
func (c *Push) Open(env *Env) (*fileops.Ledger, error) {
	if c.NoCreate {
		return env.Open()
	}
	return c.NewLedger.Create(env)
}

// Push pushes p in op. If that has ended, it begins another run if reuse accepts the last one, and
// returns session.ErrEnded if not, or if reuse is nil. A command that creates an operation then
// makes a pass over idle ones (see session.PassOverIdle).
func (c *Push) Push(env *Env, l *fileops.Ledger, op string, p protocol.Push,
	reuse func(ended protocol.Operation) bool) (session.Edit, error) {
	if !l.Absent() {
		for _, path := range p.Resources {
			if err := l.CheckResource(op, path); err != nil {
				return session.Edit{}, Named("push", op, p.Call, err)
			}
		}
		if p.StartID != "" { // otherwise the caller may have made them already
			p.Found = l.FindResources(p.Resources)
		}
	}

	mode := fileops.OrCreate
	if c.NoCreate {
		mode = fileops.Existing
	}

	how := session.Pushing{Reuse: reuse != nil, CallerMayGo: c.Caller == "",
		Rehearse: env.DryRun() && !c.NoCreate}
	verb := how.Push(op, p)
	edit, err := env.Edit(l, op, mode, verb)
	for errors.Is(err, session.ErrEnded) && reuse != nil && reuse(edit.Before) && !env.DryRun() {
		if err = env.Archive(l, op); err == nil {
			edit, err = env.Edit(l, op, mode, verb)
		}
	}
	if err == nil && p.Tmp && !edit.Changed() && !l.HasTmp(op, edit.After.RunID, p.Call) {
		err = fmt.Errorf("%w, pushed without --tmp", protocol.ErrKnownCall)
	}

	return edit, Named("push", op, p.Call, err)
}
