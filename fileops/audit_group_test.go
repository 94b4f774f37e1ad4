package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

func auditedGroup(t *testing.T, l *Ledger) Audited {
	t.Helper()
	object, err := l.AuditedGroup("g")
	must(t, err)
	return object
}

// groupRecord returns the lines of the record of the group g, which must be whole.
func groupRecord(l *Ledger) (lines []audit.Line, err error) {
	object, err := l.AuditedGroup("g")
	if err != nil {
		return nil, err
	}
	v := &audit.Verifier{}
	end, err := object.Verify(v, func(v *audit.Verifier, texts []string) {
		Feed(v, texts)
		for _, text := range texts {
			line, _ := audit.Parse(text)
			lines = append(lines, line)
		}
	})
	if broken := v.Broken(); err == nil && len(broken) > 0 {
		err = fmt.Errorf("%v", broken)
	}
	for _, text := range end.Chain.Pending {
		line, _ := audit.Parse(text)
		if len(lines) == 0 || line.Seq > lines[len(lines)-1].Seq {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// A heartbeat has no line, also after an edit by hand, of which the next line tells.
func TestAuditGroup(t *testing.T) {
	t.Parallel()
	now := queueTime
	l := testLedger(t, Config{}, Options{Observe: func() observe.Observation {
		now = now.Add(time.Second)
		return observe.Observation{Now: now}
	}})
	edit := func(verb Verb[group.Group]) {
		t.Helper()
		_, err := l.EditGroup("g", OrCreate, verb)
		must(t, err)
	}
	register := func(id string) {
		t.Helper()
		edit(func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Register(group.Registration{Service: id, By: "ada"}, seen)
		})
	}
	beat := func() {
		t.Helper()
		edit(func(g group.Group, seen observe.Observation) (group.Group, error) {
			after, _, err := g.BeatService(group.ServiceProcess{Service: "a", Progress: true},
				observe.Report{}, seen)
			return after, err
		})
	}

	register("a")
	beat()
	must(t, auditedGroup(t, l).Switch(true))
	beat()
	register("b")
	beat()
	for _, next := range []string{"c", "d"} {
		g := readGroup(t, l, "g")
		g.Registry.Revision++
		g.Registry.Owner = "somebody-" + next
		writeFile(t, l.SupervisorsPath("g"), g.Registry.Encode())
		if next == "d" {
			beat()
		}
		register(next)
	}

	must(t, auditedGroup(t, l).Switch(false))
	register("e")
	must(t, auditedGroup(t, l).Switch(true))
	beat()
	lines, err := groupRecord(l)
	want := []string{"began", "on", "register", "unaudited", "register", "unaudited", "register", "off",
		"unaudited", "on"}
	if err != nil || !slices.Equal(verbsOf(lines), want) {
		t.Errorf("%v, %q", err, verbsOf(lines))
	}
}

// If the log cannot be written for long, an edit is refused, except a stop and what carries it
// out.
func TestAuditGroupFullDisk(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
	edit := func(verb Verb[group.Group]) error {
		_, err := l.EditGroup("g", OrCreate, verb)
		return err
	}
	register := func(id string) error {
		return edit(func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Register(group.Registration{Service: id, By: "ada"}, seen)
		})
	}
	must(t, register("a"))
	must(t, os.Mkdir(l.GroupAudit("g"), 0o700))
	must(t, auditedGroup(t, l).Switch(true))
	n := 0
	for err := error(nil); ; n++ {
		if err = register(fmt.Sprint("b", n)); errors.Is(err, audit.ErrPending) {
			break
		}
		must(t, err)
		if n > 100 {
			t.Fatal("nothing is refused")
		}
	}
	if n != audit.MostPending-2 {
		t.Errorf("%d edits were made without a log", n)
	}

	must(t, edit(func(g group.Group, seen observe.Observation) (group.Group, error) {
		return g.Shutdown("a", "ada", false, nil, seen)
	}))
	if got := readGroup(t, l, "g").Service("a").State; got != group.StateShuttingDown {
		t.Fatalf("it is %s", got)
	}
	for pass := range 2 { // the first one grants a fresh threshold
		must(t, edit(func(g group.Group, seen observe.Observation) (group.Group, error) {
			seen.Now = seen.Now.Add(time.Duration(pass+1) * time.Minute)
			d, err := plan.Pass(g, plan.Request{Owner: "ada"}, seen)
			must(t, err)
			return d.Group(), nil
		}))
	}
	if got := readGroup(t, l, "g").Service("a").State; got != group.StateStopped {
		t.Errorf("it is %s", got)
	}

	must(t, os.Remove(l.GroupAudit("g")))
	must(t, register("last"))
	lines, err := groupRecord(l)
	if err != nil || int64(len(lines)) != readGroup(t, l, "g").Registry.Revision {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

// A pass changes both files of a group. Whatever happens in it, its line is there if and only if
// the registry is changed.
func TestAuditGroupFaults(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"rename", "link"} {
		for _, before := range []int{0, manyPending - 2} {
			t.Run(fmt.Sprint(commit, before), func(t *testing.T) {
				t.Parallel()
				broken, runs := everyFault(simfs.Process{}, 3,
					func(p *simfs.Process, power *rand.Rand) error {
						return runRecordedGroup(p, power, commit, before)
					})
				for _, err := range broken {
					t.Error(err)
				}
				t.Logf("%d runs", runs)
			})
		}
	}
}

func runRecordedGroup(p *simfs.Process, power *rand.Rand, commit string, before int) error {
	w := &auditWorld{disk: simfs.New(), commit: commit}
	p.Disk = w.disk
	l, err := w.ledger(&simfs.Process{Disk: w.disk})
	if err != nil {
		return err
	}
	if err := commitPass(l); err != nil {
		return err
	}
	object, err := l.AuditedGroup("g")
	if err == nil {
		err = object.Switch(true)
	}
	for range before {
		if err == nil {
			err = commitPass(l)
		}
	}
	if err != nil {
		return err
	}

	p.Disk.Flush()
	p.Run(func() {
		if l, err := w.ledger(p); err == nil {
			commitPass(l)
		}
	})
	if power != nil {
		p.Disk.PowerLoss(power)
	}

	if l, err = w.ledger(&simfs.Process{Disk: w.disk}); err != nil {
		return err
	}
	for edits := range 3 {
		lines, err := groupRecord(l)
		for i, line := range lines {
			if err == nil && (line.Seq != int64(i+1) || line.Revision != line.Seq) {
				err = fmt.Errorf("line %d: %s", i+1, line.Text)
			}
		}
		if err == nil {
			err = commitPass(l)
		}
		if err != nil {
			return fmt.Errorf("after %d more edits: %w", edits, err)
		}
	}
	return nil
}

// commitPass commits a pass that changes both files.
func commitPass(l *Ledger) error {
	return l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
		g := withPass(tx.Value(), "x")
		g.Registry.PendingAlerts = nil
		return tx.Commit(g)
	})
}

// A registry that was set back gives no revision twice.
func TestAuditGroupRestored(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	must(t, commitPass(l))
	must(t, auditedGroup(t, l).Switch(true))
	older := readText(t, l.SupervisorsPath("g"))
	for range 5 {
		must(t, commitPass(l))
	}
	last := readGroup(t, l, "g").Registry.Revision
	writeFile(t, l.SupervisorsPath("g"), older)
	must(t, commitPass(l))

	lines, err := groupRecord(l)
	verbs := verbsOf(lines)
	if got := readGroup(t, l, "g").Registry.Revision; err != nil || got != last+2 ||
		!slices.Contains(verbs, audit.Restored) {
		t.Errorf("revision %d after %d, %v, %q", got, last, err, verbs)
	}
}
