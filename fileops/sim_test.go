package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/simfs"
)

const simLedger = "/home/user/ledger"

// simConfig allows a resource root that the disk of every scenario has.
var simConfig = Config{ResourceRoots: []string{"/data"}}

// In these tests an operation is a list of the edits that made it, written so that a torn one
// shows.
func encodeEdits(edits []string) []byte {
	return fmt.Appendf(nil, "%d\n%s\nend\n", len(edits), strings.Join(edits, "\n"))
}

func decodeEdits(data []byte) ([]string, error) {
	lines := strings.Split(string(data), "\n")
	if n := len(lines); n < 4 || lines[n-1] != "" || lines[n-2] != "end" ||
		lines[0] != fmt.Sprint(n-3) {
		return nil, fmt.Errorf("torn: %q", data)
	}
	return lines[1 : len(lines)-2], nil
}

// add is a change that appends one edit.
func add(edit string, heartbeat bool) func(*byteTx) error {
	return func(tx *byteTx) error {
		var edits []string
		if tx.Data() != nil {
			var err error
			if edits, err = decodeEdits(tx.Data()); err != nil {
				return err
			}
		}

		tx.Replace(encodeEdits(append(edits, edit)), heartbeat)
		return nil
	}
}

// survey returns the operations on the disk, archived ones too, by file name.
func survey(d *simfs.Disk) (map[string][]string, error) {
	found := map[string][]string{}
	for _, name := range d.Tree() {
		rest, ok := strings.CutPrefix(name, simLedger+"/")
		if !ok || path.Ext(rest) != ".json" || !strings.HasPrefix(rest, "operations/") &&
			!strings.HasPrefix(rest, "archive/") {
			continue
		}

		data, err := d.ReadFile(name)
		if err != nil {
			return nil, err
		}

		edits, err := decodeEdits(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rest, err)
		}

		found[rest] = edits
	}

	return found, nil
}

// leftoversOn returns what Sweep should have removed.
func leftoversOn(d *simfs.Disk) []string {
	return slices.DeleteFunc(d.Tree(), func(name string) bool {
		if strings.Contains(name, ".tmp~") && !strings.Contains(name, "ledger.json") ||
			strings.Contains(name, ".dpl-trash-") {
			return false
		}

		locked, isLock := strings.CutSuffix(name, ".lock")
		if !isLock {
			return true
		}
		return slices.ContainsFunc([]string{"", ".supervisors.json", ".orchestrator.json"},
			func(suffix string) bool {
				return d.Exists(locked + suffix)
			})
	})
}

func simOpen(p *simfs.Process) (*Ledger, error) {
	return Create(simLedger, simConfig, Options{FS: p, LockTimeout: time.Hour})
}

// scenario is one command, and what it finds.
type scenario struct {
	name     string
	before   func(l *Ledger) error
	after    map[string][]string // of success
	volatile bool                // a power cut may undo it
	act      func(l *Ledger) error
}

var errRefused = errors.New("refused")

func edits(changes ...func(*byteTx) error) func(l *Ledger) error {
	return func(l *Ledger) error {
		for _, change := range changes {
			if err := l.Edit("op", OrCreate, change); err != nil {
				return err
			}
		}
		return nil
	}
}

func archive(tx *byteTx) error { tx.Archive(); return nil }

var scenarios = []scenario{
	{name: "first push", act: edits(add("a", false)),
		after: map[string][]string{"operations/op.json": {"a"}}},
	{name: "push", before: edits(add("a", false)), act: edits(add("b", false)),
		after: map[string][]string{"operations/op.json": {"a", "b"}}},
	{name: "heartbeat", before: edits(add("a", false)), act: edits(add("b", true)), volatile: true,
		after: map[string][]string{"operations/op.json": {"a", "b"}}},
	{name: "archive", before: edits(add("a", false), func(tx *byteTx) error {
		if _, err := tx.MakeTmp("call"); err != nil {
			return err
		}
		return add("b", false)(tx)
	}), act: edits(archive), after: map[string][]string{"archive/op.json": {"a", "b"}}},
	{name: "archive again", before: edits(add("a", false), archive, add("b", false)),
		act:   edits(archive),
		after: map[string][]string{"archive/op.json": {"a"}, "archive/op~2.json": {"b"}}},
	{name: "push of an archived operation", before: edits(add("a", false), archive),
		act:   edits(add("b", false)),
		after: map[string][]string{"archive/op.json": {"a"}, "operations/op.json": {"b"}}},
	{name: "refused first push", act: edits(func(tx *byteTx) error {
		_, err := tx.MakeTmp("call")
		return errors.Join(errRefused, err)
	})},
	{name: "temporary directories", before: edits(func(tx *byteTx) error {
		_, err := tx.MakeTmp("old")
		return errors.Join(err, add("a", false)(tx))
	}), act: edits(func(tx *byteTx) error {
		_, err := tx.MakeTmp("new")
		tx.DiscardTmp("old")
		return errors.Join(err, add("b", false)(tx))
	}), after: map[string][]string{"operations/op.json": {"a", "b"}}},
	{name: "resource", before: edits(add("a", false)), act: edits(func(tx *byteTx) error {
		return errors.Join(tx.Discard("/data/scratch"), add("b", false)(tx))
	}), after: map[string][]string{"operations/op.json": {"a", "b"}}},
}

// run runs one scenario with a fault, and returns an error if a promise was broken. If power is not
// nil, a power cut follows.
func (s scenario) run(p *simfs.Process, power *rand.Rand) error {
	p.Disk = simfs.New()
	setup := &simfs.Process{Disk: p.Disk}
	for _, dir := range []string{"/data", "/data/scratch", "/data/scratch/deep"} {
		if err := setup.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}

	before := map[string][]string{}
	if s.before != nil {
		l, err := simOpen(setup)
		if err == nil {
			err = s.before(l)
		}
		if err == nil {
			before, err = survey(p.Disk)
		}
		if err != nil {
			return fmt.Errorf("before: %w", err)
		}
	}

	p.Disk.Flush()

	var err error
	survived := p.Run(func() {
		var l *Ledger
		if l, err = simOpen(p); err == nil {
			err = s.act(l)
		}
	})

	if p.Fault.At > p.Calls && err != nil && !errors.Is(err, errRefused) {
		return fmt.Errorf("without a fault: %w", err)
	}
	if power != nil {
		p.Disk.PowerLoss(power)
	}
	if err := s.judge(p.Disk, before, survived && !excuses(p.Fault, err), err,
		power != nil); err != nil {
		return err
	}

	return s.sweep(p.Disk, power != nil)
}

func (s scenario) judge(d *simfs.Disk, before map[string][]string, survived bool, err error,
	powerLost bool) error {
	after := s.after
	if after == nil {
		after = before
	}

	got, surveyErr := survey(d)
	if surveyErr != nil {
		return surveyErr
	}

	isOld, isNew := fmt.Sprint(got) == fmt.Sprint(before), fmt.Sprint(got) == fmt.Sprint(after)
	mayUndo := powerLost && (s.volatile || errors.Is(err, ErrCommitted))
	switch {
	case !isOld && !isNew:
		return fmt.Errorf("neither old nor new: %v", got)
	case survived && !isNew && !mayUndo && (err == nil || errors.Is(err, ErrCommitted)):
		return fmt.Errorf("lost: it said %v, but there is %v", err, got)
	case survived && !isOld && err != nil && !errors.Is(err, ErrCommitted):
		return fmt.Errorf("it said %w, but there is %v", err, got)
	}

	return nil
}

// sweep shows that the next process can go on, and that nothing is left lying about.
func (s scenario) sweep(d *simfs.Disk, powerLost bool) error {
	l, err := simOpen(&simfs.Process{Disk: d})
	if err != nil {
		return fmt.Errorf("next command: %w", err)
	}
	if err := errors.Join(l.Sweep(), l.Sweep()); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}

	left := leftoversOn(d)
	if len(left) > 0 && !(powerLost && s.name == "resource") { // the journal is not fsynced
		return fmt.Errorf("left after the sweep: %v", left)
	}
	return l.Edit("op", OrCreate, add("next", false))
}

// everyKind has all kinds of faults. The last one is a network that loses an answer and then a
// request.
var everyKind = []simfs.Fault{
	{}, {Err: syscall.ENOSPC}, {Err: syscall.EIO}, {Err: syscall.EIO, Late: true},
	{Err: syscall.EIO, Late: true, More: 1},
}

// excuses reports whether err may say that the outcome of an edit is unknown. That takes more than
// one fault.
func excuses(f simfs.Fault, err error) bool { return f.More > 0 && errors.Is(err, ErrUnknown) }

// everyFault runs a program of a process like bug with every fault at each of its system calls, the
// given number of times: once without and then with a power cut. It returns at most ten broken
// promises.
func everyFault(bug simfs.Process, times uint64,
	run func(p *simfs.Process, power *rand.Rand) error) (broken []error, runs int) {
	dry := bug
	if err := run(&dry, nil); err != nil {
		return []error{err}, 1
	}

	for at := 1; at <= dry.Calls+1; at++ {
		for kind, fault := range everyKind {
			for seed := range times {
				p, hit := bug, ""
				p.Fault = fault
				p.Fault.At = at
				p.Trace = func(call string) {
					if p.Calls == at {
						hit = call
					}
				}

				var power *rand.Rand
				if seed > 0 {
					power = rand.New(rand.NewPCG(seed, uint64(at)))
				}

				runs++
				if err := run(&p, power); err != nil {
					broken = append(broken, fmt.Errorf("fault %d at call %d (%s), seed %d: %w",
						kind, at, hit, seed, err))
				}
				if len(broken) == 10 {
					return broken, runs
				}
			}
		}
	}

	return broken, runs
}

func (s scenario) everyFault(bug simfs.Process) (broken []error, runs int) {
	return everyFault(bug, 5, s.run)
}

func TestEveryFaultAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			broken, runs := s.everyFault(simfs.Process{})
			for _, err := range broken {
				t.Error(err)
			}
			t.Logf("%d runs, %d failed", runs, len(broken))
		})
	}
}

// The checker has to notice the bugs it is for.
func TestCheckerNoticesMissingFsync(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]simfs.Process{"file": {NoFileSync: true},
		"directory": {NoDirSync: true}} {
		broken, _ := scenarios[1].everyFault(bug)
		if len(broken) == 0 {
			t.Errorf("pushing without fsync of the %s passes", name)
		}
	}
}
