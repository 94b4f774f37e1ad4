package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/go-json-experiment/json/jsontext"
)

type shower struct {
	env    *cli.Env
	ledger *fileops.Ledger
	clock  func() protocol.Observation
}

// read returns the operation id, and whether it is in the archive.
func (s *shower) read(id string) (protocol.Operation, bool, error) {
	op, archived, err := s.ledger.ReadOperation(id)
	return op, archived, cli.Named("status", id, "", err)
}

// operations lists all operations that are not archived.
func (s *shower) operations() error {
	worst, results := cli.StatusOK, []cli.Object{}
	err := s.each("", func(op protocol.Operation) { results = append(results, s.summary(op)) }, &worst)
	if err != nil {
		return err
	}
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{Name: "operations", Value: results}})
		return cli.Exit(worst)
	}
	if len(results) > 0 {
		s.table([]string{"operationId", "state", "calls", "crashed", "ageMs"}, []string{"OPERATION", "STATE", "CALLS", "CRASHED", "LAST HEARTBEAT"}, results)
	}
	return cli.Exit(worst)
}

// each calls show for the operation id, or for all if it is "". A file that cannot be read is said, and the status of that
// kept in worst.
func (s *shower) each(id string, show func(protocol.Operation), worst *int) error {
	if id != "" {
		op, _, err := s.read(id)
		if err == nil {
			show(op)
		}
		return err
	}
	ids, err := s.ledger.IDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		op, archived, err := s.read(id)
		switch {
		case archived || errors.Is(err, fileops.ErrNotFound):
		case err != nil:
			s.env.Warnf("%v", err)
			*worst = cli.Worse(*worst, cli.StatusOf(err))
		default:
			show(op)
		}
	}
	return nil
}

// seen returns an observation of op.
func (s *shower) seen(op protocol.Operation) protocol.Observation {
	seen, _ := s.ledger.ObserveOperation(op, s.clock())
	return seen
}

func (s *shower) summary(op protocol.Operation) cli.Object {
	crashed := 0
	for _, f := range op.Stack {
		if !f.State.Live() {
			crashed++
		}
	}
	return cli.Object{
		{Name: "operationId", Value: op.ID}, {Name: "state", Value: string(op.State)}, {Name: "revision", Value: op.Revision},
		{Name: "calls", Value: len(op.Stack)}, {Name: "crashed", Value: crashed},
		{Name: "ageMs", Value: s.clock().Now.Sub(op.LastHeartbeat).Milliseconds()},
	}
}

// operation shows one operation, as it is in its file and as it would be judged now.
func (s *shower) operation(id string) error {
	op, archived, err := s.read(id)
	if err != nil {
		return err
	}
	frames, supervisors := s.frames(op), s.supervisors(op)
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{
			{Name: "operation", Value: jsontext.Value(op.Encode())}, {Name: "archived", Value: archived},
			{Name: "calls", Value: frames}, {Name: "supervisors", Value: supervisors},
		})
		return nil
	}
	s.head(op, archived)
	if len(frames) > 0 {
		fmt.Fprintln(s.env.Stdout)
		s.table([]string{"callId", "participantId", "pid", "state", "ageMs", "supervisorId", "verdict"},
			[]string{"CALL", "PARTICIPANT", "PID", "STATE", "LAST HEARTBEAT", "SUPERVISOR", "JUDGED NOW"}, frames)
	}
	if len(supervisors) > 0 {
		fmt.Fprintln(s.env.Stdout)
		s.table([]string{"supervisorId", "pid", "status", "ageMs", "verdict"}, []string{"SUPERVISOR", "PID", "STATUS", "LAST HEARTBEAT", "JUDGED NOW"}, supervisors)
	}
	for _, f := range op.Stack {
		if said := f.Said().String(); said != "" {
			fmt.Fprintf(s.env.Stdout, "\ncall %s of %s says: %s\n", f.CallID, f.ParticipantID, text(said))
		}
	}
	for _, f := range op.Lingering(s.clock().Now) {
		fmt.Fprintf(s.env.Stdout, "\ncall %s of %s was told to clean up and has not popped\n", f.CallID, f.ParticipantID)
	}
	return nil
}

func (s *shower) head(op protocol.Operation, archived bool) {
	where := ""
	if archived {
		where = ", archived"
	}
	fmt.Fprintf(s.env.Stdout, "%s: %s, revision %d%s\n", op.ID, op.State, op.Revision, where)
	for _, t := range op.Transitions {
		fmt.Fprintf(s.env.Stdout, "  %s  %s -> %s by %s: %s\n", t.At.Format(time.RFC3339), t.From, t.To, text(t.By), text(t.Reason))
	}
}

func (s *shower) frames(op protocol.Operation) []cli.Object {
	seen, objects := s.seen(op), []cli.Object{}
	for _, f := range op.Stack {
		evidence, age := op.Judge(f, seen)
		objects = append(objects, cli.Object{
			{Name: "callId", Value: f.CallID}, {Name: "participantId", Value: f.ParticipantID}, {Name: "pid", Value: f.PID},
			{Name: "state", Value: string(f.State)}, {Name: "readiness", Value: string(f.Said().Readiness)}, {Name: "note", Value: f.Said().Note},
			{Name: "ageMs", Value: age.Milliseconds()},
			{Name: "supervisorId", Value: cli.OrNull(f.SupervisorID)}, {Name: "supervisorHandle", Value: cli.OrNull(f.SupervisorHandle)},
			{Name: "verdict", Value: verdict(f.State.Live(), evidence, f.Crash)},
		})
	}
	return objects
}

func (s *shower) supervisors(op protocol.Operation) []cli.Object {
	seen, objects := s.seen(op), []cli.Object{}
	for _, v := range op.Supervisors {
		evidence, age := op.JudgeSupervisor(v, seen)
		objects = append(objects, cli.Object{
			{Name: "supervisorId", Value: v.ID}, {Name: "pid", Value: v.PID}, {Name: "status", Value: string(v.Status)},
			{Name: "ageMs", Value: age.Milliseconds()}, {Name: "verdict", Value: verdict(v.Status == protocol.Alive, evidence, nil)},
		})
	}
	return objects
}

// verdict is one word: alive, or the evidence for the contrary, which is that of the crash if there was one.
func verdict(live bool, evidence protocol.Evidence, crash *protocol.Crash) string {
	switch {
	case crash != nil && !live:
		return string(crash.Evidence)
	case evidence != "":
		return string(evidence)
	case live:
		return "alive"
	}
	return "dead"
}

// calls shows the calls of a supervisor, by handle: in the operation id, or in all.
func (s *shower) calls(id, supervisor string) error {
	worst, calls := cli.StatusOK, []cli.Object{}
	err := s.each(id, func(op protocol.Operation) {
		for i, o := range s.frames(op) {
			if op.Stack[i].SupervisorID == supervisor {
				calls = append(calls, append(cli.Object{{Name: "operationId", Value: op.ID}}, o...))
			}
		}
	}, &worst)
	if err != nil {
		return err
	}
	slices.SortStableFunc(calls, func(a, b cli.Object) int {
		return cmp.Compare(text(a.Get("supervisorHandle")), text(b.Get("supervisorHandle")))
	})
	if s.env.JSON() {
		s.env.PrintJSON(cli.Object{{Name: "supervisorId", Value: supervisor}, {Name: "calls", Value: calls}})
	} else if len(calls) > 0 {
		s.table([]string{"supervisorHandle", "operationId", "callId", "participantId", "state", "ageMs", "verdict"},
			[]string{"HANDLE", "OPERATION", "CALL", "PARTICIPANT", "STATE", "LAST HEARTBEAT", "JUDGED NOW"}, calls)
	}
	return cli.Exit(worst)
}

// table prints the members called names of rows under titles.
func (s *shower) table(names, titles []string, rows []cli.Object) {
	w := tabwriter.NewWriter(s.env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(titles, "\t"))
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = text(row.Get(name))
			if ms, ok := row.Get(name).(int64); ok && name == "ageMs" {
				cells[i] = ago(ms)
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
}

func text(value any) string {
	if value == nil {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar // it is for a terminal
		}
		return r
	}, fmt.Sprint(value))
}

func ago(ms int64) string {
	if d := time.Duration(ms) * time.Millisecond; d < 0 {
		return fmt.Sprintf("in %v", -d)
	} else if d < time.Minute {
		return fmt.Sprintf("%v ago", d)
	} else {
		return fmt.Sprintf("%v ago", d.Truncate(time.Second))
	}
}
