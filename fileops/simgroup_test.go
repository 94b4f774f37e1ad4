package fileops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
)

var groupScenarios = map[string]struct {
	before []passing
	act    passing
}{
	"first pass":   {act: passing{name: "x"}},
	"another pass": {before: []passing{{name: "a"}}, act: passing{name: "x"}},
	"fresh":        {before: []passing{{name: "a"}}, act: passing{name: "x", fresh: true}},
	"heartbeat":    {before: []passing{{name: "a"}}, act: passing{beat: true}},
	"first beat":   {act: passing{beat: true}},
	"pending alert": {before: []passing{{name: "a"}, {name: "b", appends: interrupted}},
		act: passing{name: "x"}},
	"torn alert": {before: []passing{{name: "a"}, {name: "b", appends: torn}},
		act: passing{name: "x"}},
}

func interrupted(*GroupTx, []group.Alert) error { return errRefused }

func torn(tx *GroupTx, alerts []group.Alert) error {
	f, err := openAlerts(tx)
	if err == nil {
		_, err = io.WriteString(f, alertLine("g", alerts[0]).Text[:20])
	}
	return errors.Join(err, errRefused)
}

// runGroup runs a pass with a fault and perhaps a power cut, and then the next pass, perhaps with
// another power cut.
func runGroup(before []passing, act passing, p *simfs.Process, power *rand.Rand) error {
	p.Disk = simfs.New()
	l, err := simOpen(&simfs.Process{Disk: p.Disk})
	if err != nil {
		return err
	}

	for _, b := range before {
		if err := b.run(l); err != nil && !errors.Is(err, errRefused) {
			return fmt.Errorf("before: %w", err)
		}
		act.acked = *b.seen
	}

	p.Disk.Flush()
	old := act.acked
	act.seen = &old

	survived := p.Run(func() {
		if l, err = simOpen(p); err == nil {
			err = act.run(l)
		}
	})

	if p.Fault.At > p.Calls && err != nil {
		return fmt.Errorf("without a fault: %w", err)
	}

	powerLost := power != nil && power.IntN(3) > 0 // else it comes after the next pass
	if powerLost {
		p.Disk.PowerLoss(power)
	}

	next := &simfs.Process{Disk: p.Disk, NoFileSync: p.NoFileSync, NoDirSync: p.NoDirSync,
		NoTruncate: p.NoTruncate}
	if l, err = simOpen(next); err != nil {
		return fmt.Errorf("next command: %w", err)
	}

	inDoubt := excuses(p.Fault, act.err) || p.Fault.More > 0 && errors.Is(act.err, ErrCommitted)
	if err := act.judge(l, survived, powerLost, inDoubt); err != nil {
		return err
	}

	return nextPass(l, p.Disk, act, power)
}

func (p *passing) judge(l *Ledger, survived, powerLost, inDoubt bool) error {
	g, err := l.ReadGroup("g")
	if err != nil && !errors.Is(err, ErrNoGroup) {
		return err
	}
	if err != nil {
		g = group.Create("g")
	}
	if acked := p.acked; g.Registry.Revision < acked.Registry.Revision ||
		g.Orchestrator.Revision < acked.Orchestrator.Revision {
		return fmt.Errorf("lost: %+v, but %+v was acknowledged", g, acked)
	}
	if powerLost {
		return nil
	}
	if int(g.Orchestrator.Revision) > len(namesOf(g)) {
		return fmt.Errorf("orchestrator before registry: %+v", g)
	}
	if survived && !sameRevisions(g, *p.seen) && !(inDoubt && p.mayBe(g)) {
		return fmt.Errorf("there is %+v, but it knew of %+v", g, *p.seen)
	}

	return p.wrong
}

// nextPass checks that everything works in the end: one pass delivers what is pending, and another
// adds an alert of its own.
func nextPass(l *Ledger, d *simfs.Disk, act passing, power *rand.Rand) error {
	for _, name := range []string{"", "next"} {
		if err := (&passing{name: name, appends: act.appends}).run(l); err != nil {
			return fmt.Errorf("next pass %q: %w", name, err)
		}
		if power != nil {
			d.PowerLoss(power)
		}
	}

	g, err := l.ReadGroup("g")
	if err == nil {
		err = wantAlerts(l, g)
	}
	if acked := namesOf(act.acked); err == nil &&
		!slices.Equal(acked, namesOf(g)[:min(len(acked), len(namesOf(g)))]) {
		err = fmt.Errorf("passes %q, but %q were acknowledged", namesOf(g), acked)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(l.Sweep(), l.Sweep()); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if left := leftoversOn(d); len(left) > 0 {
		return fmt.Errorf("left after the sweep: %v", left)
	}

	return wantCopies(d, act.copied)
}

// wantCopies checks that each archived registry is complete, and that one of them is the
// acknowledged one.
func wantCopies(d *simfs.Disk, acked string) error {
	found := acked == ""
	for _, name := range d.Tree() {
		if !strings.Contains(name, "/archive/g~supervisors~") {
			continue
		}

		data, err := d.ReadFile(name)
		if err == nil {
			_, err = group.DecodeRegistry(string(data))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}

		found = found || string(data) == acked
	}

	if !found {
		return fmt.Errorf("there is no copy of %s", acked)
	}

	return nil
}

// everyGroupFault runs act with every fault at every system call and returns the promises broken.
func everyGroupFault(before []passing, act passing, bug simfs.Process) (broken []error, runs int) {
	return everyFault(bug, 5, func(p *simfs.Process,
		power *rand.Rand) error {
		return runGroup(before, act, p, power)
	})
}

func TestEveryFaultInAPass(t *testing.T) {
	t.Parallel()
	for name, s := range groupScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken, runs := everyGroupFault(s.before, s.act, simfs.Process{})
			for _, err := range broken {
				t.Error(err)
			}
			t.Logf("%d runs, %d failed", runs, len(broken))
		})
	}
}

// unchecked appends what it is given, whatever is there.
func unchecked(tx *GroupTx, alerts []group.Alert) error {
	f, err := openAlerts(tx)
	if err != nil {
		return err
	}

	data, _, err := tx.ledger.fs.ReadFile(tx.ledger.AlertsPath(tx.id))
	if err == nil {
		err = f.Truncate(int64(bytes.LastIndexByte(data, '\n') + 1))
	}
	for _, alert := range alerts {
		if err == nil {
			_, err = io.WriteString(f, alertLine(tx.id, alert).Text+"\n")
		}
	}
	if err != nil {
		return err
	}

	return errors.Join(tx.ledger.fs.SyncDir(tx.ledger.Dir()), f.Sync(), f.Close())
}

// openAlerts opens the alerts file for appending, and creates it if it is missing.
func openAlerts(tx *GroupTx) (disk.File, error) {
	files, path := tx.ledger.fs, tx.ledger.AlertsPath(tx.id)
	if err := files.Publish(path, nil); err != nil {
		return nil, err
	}
	return files.OpenAppend(path)
}

// The checker has to notice the bugs it is for.
func TestCheckerNoticesBugsOfAPass(t *testing.T) {
	t.Parallel()
	before := groupScenarios["another pass"].before
	for name, bug := range map[string]struct {
		act passing
		os  simfs.Process
	}{
		"no fsync of files":         {os: simfs.Process{NoFileSync: true}},
		"no fsync of directories":   {os: simfs.Process{NoDirSync: true}},
		"torn lines are kept":       {os: simfs.Process{NoTruncate: true}},
		"numbers are not looked at": {act: passing{appends: unchecked}},
		"append before commit":      {act: passing{early: true}},
	} {
		bug.act.name = "x"
		broken, _ := everyGroupFault(before, bug.act, bug.os)
		if len(broken) == 0 {
			t.Errorf("%s: it passes", name)
			continue
		}
		t.Logf("%s: %v", name, broken[0])
	}
}
