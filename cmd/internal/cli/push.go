package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// Push is the flags of commands that push a call.
type Push struct {
	Operation
	Supervisor, Handle  string
	call, participant   string
	caller              string
	description         string
	resources           []string
	newLedger           NewLedger
	Contained           bool
	orphanPolicy        protocol.OrphanPolicy
	staleness, interval time.Duration
	noCreate, reuse     bool

	// Heartbeats promises heartbeats of what is pushed, or registered.
	Heartbeats bool
}

// Define defines the flags. participant says what the one of that name means.
func (c *Push) Define(f *FlagSet, participant string) {
	f.String(&c.participant, "participant", "ID", participant)
	f.String(&c.Op, "op", "OP", "operation ($DPL_OP); one is made up unless it is given")
	f.String(&c.call, "call", "CALL", "call; one is made up unless it is given")
	f.String(&c.caller, "caller", "CALL", "the call on whose behalf this one is made ($DPL_CALL, if it is one of the operation); - if there is none")
	f.String(&c.Supervisor, "supervisor", "ID", "who cleans up if the call crashes ($DPL_SUPERVISOR)")
	f.Text(&c.Handle, "handle", "what the supervisor knows the call by")
	Word(f, &c.orphanPolicy, "orphan-policy", "", "what becomes of the supervisor's live calls when it dies (crash)",
		protocol.OrphanCrash, protocol.OrphanKeep)
	f.Text(&c.description, "description", "for people who read the file")
	f.Strings(&c.resources, "resource", "PATH", "delete PATH if the call crashes")
	f.Bool(&c.Contained, "no-fail-on-crash", "a crash of this call leaves the operation running")
	f.Bool(&c.Heartbeats, "heartbeat", "promise to send heartbeats: without them the call has crashed, even while its process lives")
	f.Duration(&c.staleness, "staleness", "of a new operation: a call that is judged by its heartbeats has crashed after D without one (10s)", 2*time.Millisecond)
	f.Duration(&c.interval, "interval", "of a new operation: how often to send heartbeats (1.5s, or a third of --staleness)", time.Millisecond)
	f.Bool(&c.noCreate, "no-create", "fail if there is no operation")
	f.Bool(&c.reuse, "reuse", "begin an operation anew that is over")
	c.newLedger.Define(f)
}

// Arguments returns the push that the flags ask for, and its operation. Without --participant it is made by participant;
// if that is "", by $DPL_PARTICIPANT.
func (c *Push) Arguments(env *Env, participant string) (p protocol.Push, op string, err error) {
	p = protocol.Push{
		Participant: participant,
		Handle:      c.Handle, Description: c.description, Contained: c.Contained, OrphanPolicy: c.orphanPolicy,
		Heartbeats: c.Heartbeats,
		Interval:   c.interval, Threshold: c.staleness,
	}
	if participant == "" || c.participant != "" {
		if p.Participant, err = Required("--participant", c.participant, "DPL_PARTICIPANT"); err != nil {
			return p, "", err
		}
	}
	if p.Supervisor, err = ID("--supervisor", c.Supervisor, "DPL_SUPERVISOR"); err != nil {
		return p, "", err
	}
	if p.Call, err = ID("--call", c.call, ""); err != nil {
		return p, "", err
	}
	if op, err = ID("--op", c.Op, "DPL_OP"); err != nil {
		return p, "", err
	}
	if p.Caller, err = c.callerIn(op); err != nil {
		return p, "", err
	}
	if err = c.check(p); err != nil {
		return p, "", err
	}
	if p.Resources, err = Absolute(c.resources); err != nil {
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

// noCaller is what --caller says of a call that is made on nobody's behalf. It is no id.
const noCaller = "-"

// callerIn returns the caller of a call in op: that of --caller, else $DPL_CALL, unless $DPL_OP says
// that it is a call of another operation.
func (c *Push) callerIn(op string) (string, error) {
	if c.caller == noCaller {
		return "", nil
	}
	if c.caller != "" {
		return ID("--caller", c.caller, "")
	}

	own, caller := os.Getenv("DPL_OP"), os.Getenv("DPL_CALL")
	if own != "" && own != op || protocol.CheckID(caller) != nil {
		return "", nil
	}
	return caller, nil
}

// check returns why the flags do not go together, or nil.
func (c *Push) check(p protocol.Push) error {
	threshold := cmp.Or(p.Threshold, protocol.DefaultStalenessThreshold)
	switch {
	case c.orphanPolicy != "" && p.Supervisor == "":
		return Usagef("--orphan-policy goes with --supervisor")
	case p.Handle != "" && p.Supervisor == "":
		return Usagef("--handle goes with --supervisor")
	case p.Interval >= threshold:
		return Usagef("--interval %v must be less than --staleness %v", p.Interval, threshold)
	}
	return nil
}

// MadeUp reports whether the operation or the call is made up, so that nobody knows it who is not told.
func (c *Push) MadeUp() bool { return c.call == "" || c.Op == "" && os.Getenv("DPL_OP") == "" }

// newID returns an id that begins with the two words and ends at random.
func newID(first, second string) string {
	const most = 100
	words := first + second
	if len(words) > most {
		words = strings.TrimRight(words[:most], ".")
	}
	return fmt.Sprintf("%s-%08x", words, rand.Uint32())
}

// Open opens the ledger to push in, which it makes if it may. With --dry-run it returns an absent one if there is none.
func (c *Push) Open(env *Env) (*fileops.Ledger, error) {
	if c.noCreate {
		return env.Open()
	}
	return c.newLedger.Create(env)
}

// Push pushes p in op. Who has created an operation ticks its neighbours (see TickNeighbours).
func (c *Push) Push(env *Env, l *fileops.Ledger, op string, p protocol.Push) (Edit, error) {
	if !l.Absent() {
		for _, path := range p.Resources {
			if err := l.CheckResource(op, path); err != nil {
				return Edit{}, Named("push", op, p.Call, err)
			}
		}
	}
	if c.reuse && !env.DryRun() {
		if err := env.archive(l, op); err != nil {
			return Edit{}, Named("push", op, p.Call, err)
		}
	}
	mode := fileops.Existing
	if !c.noCreate {
		mode = fileops.OrCreate
	}
	ended := false
	edit, err := env.Edit(l, op, mode, func(before protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		ended = before.State.Terminal()
		if before.ID == "" {
			if before.Revision > 0 && !c.reuse {
				return before, fileops.ErrArchived
			}
			revision := before.Revision
			before = protocol.Create(op, p.Interval, p.Threshold)
			before.Revision = revision
		}
		if c.caller == "" && before.Frame(p.Caller) == nil {
			p.Caller = "" // $DPL_CALL has been popped, or is a call of another ledger
		}
		return before.Push(p, seen)
	})
	switch {
	case ended && errors.Is(err, protocol.ErrNotRunning):
		err = fmt.Errorf("%w: %w", err, errEnded)
	case err != nil:
	case p.Tmp && !edit.Changed() && !l.HasTmp(op, p.Call):
		err = fmt.Errorf("%w, pushed without --tmp", protocol.ErrKnownCall)
	}
	return edit, Named("push", op, p.Call, err)
}

// archive makes the passes after which an operation that is over is in the archive (spec §4.5).
func (env *Env) archive(l *fileops.Ledger, id string) error {
	for {
		op, archived, err := l.ReadOperation(id)
		if errors.Is(err, fileops.ErrNotFound) {
			return nil
		}
		if err != nil || archived || !op.State.Terminal() {
			return err
		}
		_, err = l.EditOperation(id, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Cleanup(env.Program, seen)
		})
		if err != nil && !errors.Is(err, fileops.ErrArchived) {
			return err
		}
		env.NoteCommit()
	}
}

// GivesCall reports whether a flag says something of a call.
func (c *Push) GivesCall() bool {
	return c.Op != "" || c.call != "" || c.caller != "" || c.participant != "" || c.Handle != "" || c.description != "" || c.resources != nil ||
		c.Contained || c.orphanPolicy != "" || c.staleness != 0 || c.interval != 0 || c.noCreate || c.reuse || c.newLedger.Given()
}
