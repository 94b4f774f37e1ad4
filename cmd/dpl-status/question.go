package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// check is the predicate "the operation id is in state".
func (s *reporter) check(id, state string) error {
	if err := knownState(operationStates, "an operation", state); err != nil {
		return err
	}

	op, err := s.read(id)
	if err != nil {
		return err
	}

	holds := string(op.State) == state || state == "terminal" && op.State.Terminal()
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{"operationId", op.ID}, {"state", string(op.State)},
			{"revision", op.Revision}, {"holds", holds},
		})
	}

	if !holds {
		return cli.Exit(cli.StatusFalse)
	}

	return nil
}

// why prints everything on which the judgement of a call rests.
func (s *reporter) why(id, call string) error {
	op, err := s.read(id)
	if err != nil {
		return err
	}

	f := op.Frame(call)
	if f == nil {
		if op.Archived {
			err = fmt.Errorf("%w: it is archived: its events show how the call ended",
				protocol.ErrNoCall)
		} else {
			err = protocol.ErrNoCall
		}
		return cli.Named("status", id, call, err)
	}

	facts := facts(op, f)
	if s.env.JSON() {
		s.env.PrintJSON(facts)
		return nil
	}

	for _, fact := range facts {
		name, value := inWords(fact)
		fmt.Fprintf(s.env.Stdout, "%-22s %s\n", name, view.Clean(value))
	}

	return nil
}

// inWords returns a JSON member in words: "ageMs": 1500 becomes age, 1.5s.
func inWords(fact cli.Member) (name, value string) {
	for i, r := range fact.Name() {
		if i > 0 && unicode.IsUpper(r) {
			name += " "
		}
		name += string(unicode.ToLower(r))
	}

	name = strings.TrimSuffix(name, " id")

	switch v := fact.Value().(type) {
	case nil:
		value = "-"
	case bool:
		value = map[bool]string{true: "yes", false: "no"}[v]
	case []string:
		value = cmp.Or(strings.Join(v, "; "), "-")
	case int64:
		value = strconv.FormatInt(v, 10)
		if word, ok := strings.CutSuffix(name, " ms"); ok {
			name, value = word, view.Span(time.Duration(v)*time.Millisecond)
		}
	default:
		value = cmp.Or(fmt.Sprint(v), "-")
	}

	return name, value
}

func facts(op view.Operation, f *protocol.Frame) cli.Object {
	seen := op.Seen
	evidence, age := op.Judge(f, seen)
	facts := cli.Object{
		{"operationId", op.ID}, {"callId", f.CallID},
		{"callerId", cli.OrNull(f.CallerID)},
		{"participantId", f.ParticipantID},
		{"state", string(f.State)},
		{"verdict", view.Verdict(f.State.Live(), evidence, f.Crash,
			seen.Stopped(f.PID, f.Process))},
		{"ageMs", age.Milliseconds()},
		{"stalenessThresholdMs", op.StalenessThreshold.Milliseconds()},
		{"lastHeartbeat", view.Stamp(f.LastHeartbeat)},
		{"now", view.Stamp(seen.Now)},
		{"monotonicClock", seen.Monotonic(f.LastHeartbeat, f.Beat)},
		{"pid", f.PID},
		{"identityKnown", f.Process.Known() && f.Process.PID == f.PID},
	}

	if until := op.WindowOf(f, seen); !until.IsZero() {
		facts = append(facts, cli.Object{
			{"graceUntil", view.Stamp(until)},
			{"grace", view.Window(age, until)},
		}...)
	}

	if said := f.Said(); said.String() != "" {
		facts = append(facts, cli.Object{{"readiness", string(said.Readiness)},
			{"note", said.Note}}...)
	}

	if c := f.Crash; c != nil {
		facts = append(facts, cli.Object{
			{"crashedAt", view.Stamp(c.At)}, {"detectedBy", c.DetectedBy},
			{"evidence", string(c.Evidence)},
			{"staleForMs", c.StaleFor.Milliseconds()},
			{"previousState", string(c.PreviousState)},
		}...)

		if !c.ReportedAt.IsZero() {
			facts = append(facts, cli.Member{"reportedAt", view.Stamp(c.ReportedAt)})
		}

		left := []string{}
		for _, l := range c.LeftResources {
			left = append(left, l.Path+": "+l.Error)
		}

		facts = append(facts, cli.Member{"leftResources", left})
	}

	return facts
}
