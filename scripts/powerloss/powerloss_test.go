package powerloss

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A recording is a scenario that has been run, and what strace saw of it.
type recording struct {
	scenario Scenario
	base     string
	before   *node
	steps    []step
	recorder Recorder // At is the number of commands that have ended
	ordered  bool     // as in disk
	from     int      // how many commands have ended before cuts looks
}

type step struct {
	trace trace
	after state // the real one
}

func TestMain(m *testing.M) { os.Exit(programs.Run(m, "strace")) }

// strace returns its path, and skips the test if it is missing or may not trace.
func strace(t *testing.T) string {
	path := strict.Program(t, "strace")
	if out, err := exec.Command(path, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("needs an strace that may trace: %v: %s", err, out)
	}
	return path
}

// scratch makes a directory, in memory if that can be: many thousand files are made there.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dpl-powerloss-")
	if err != nil {
		if dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		return dir
	}

	t.Cleanup(func() {
		if err := remove(dir); err != nil {
			t.Error(err)
		}
	})

	return dir
}

// record runs s with the commands in bin in a new directory.
func record(t *testing.T, s Scenario, bin string) *recording {
	t.Helper()
	r := begin(t, s)
	for range s.Commands {
		r.next(t, bin)
	}
	return r
}

// begin makes the directory of a recording.
func begin(t *testing.T, s Scenario) *recording {
	t.Helper()
	r := &recording{scenario: s, base: filepath.Join(scratch(t), "000000")}
	if err := Prepare(r.base); err != nil {
		t.Fatal(err)
	}

	var err error
	if r.before, err = load(r.base); err != nil {
		t.Fatal(err)
	}
	return r
}

// next runs the next command under strace, and notes what it acknowledges.
func (r *recording) next(t *testing.T, bin string) {
	t.Helper()
	c := r.scenario.Commands[len(r.steps)]
	if err := r.trace(t, bin); err != nil {
		t.Fatal(err)
	}
	if err := r.recorder.Note(r.base, int64(len(r.steps)), !c.Beat); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
}

// trace runs the next command under strace, with additional flags, and returns an error for a wrong
// exit status.
func (r *recording) trace(t *testing.T, bin string, flags ...string) error {
	t.Helper()
	c := r.scenario.Commands[len(r.steps)]
	log := filepath.Join(filepath.Dir(r.base), fmt.Sprintf("log%d", len(r.steps)))
	by := append(append([]string{strace(t)}, straceFlags(log)...), flags...)
	err := c.Run(c.Exec(bin, r.base, by...))
	r.steps = append(r.steps, readStep(t, log, r.base))
	return err
}

func readStep(t *testing.T, log, base string) step {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	tr, err := readTrace(f)
	if err != nil {
		t.Fatal(err)
	}

	n, err := load(base)
	if err != nil {
		t.Fatal(err)
	}

	return step{tr, (&disk{root: n}).live()}
}

// A cut is a state that a power cut may leave, after some commands have ended and while another one
// may be running.
type cut struct {
	state state
	ended int
}

// cuts calls do once for each distinct cut, without the fsyncs of the nodes that skip selects.
// Between two fsyncs each change only adds to what a power cut may leave, so it is enough to look
// before each fsync and at the end of a command.
func (r *recording) cuts(skip func(*node) bool, do func(cut) error) error {
	d := &disk{root: r.before.copy(), ordered: r.ordered}
	known := map[string]bool{}
	ended := 0
	look := func() error {
		if ended < r.from {
			return nil
		}
		return d.states(func(s state) error {
			key := fmt.Sprintf("%x %d", s.key(), ended)
			if known[key] {
				return nil
			}
			known[key] = true
			return do(cut{s, ended})
		})
	}

	for _, step := range r.steps {
		if err := (&replay{disk: d, base: r.base, skip: skip,
			before: look}).run(step.trace); err != nil {
			return err
		}
		if why := d.live().diff(step.after); why != "" {
			return fmt.Errorf("after %v the replay differs from the real directory: %s",
				r.scenario.Commands[ended], why)
		}

		ended++
		if err := look(); err != nil {
			return err
		}

		d.age()
	}

	return nil
}

// copy returns a copy of n that is completely on disk.
func (n *node) copy() *node {
	c := newNode(n.mode, n.now().data)
	for name, child := range n.names {
		twin := child.copy()
		c.names[name], c.durable[name] = twin, twin
	}
	return c
}

// A checker looks at cuts in directories beside a base.
type checker struct {
	*recording
	bin   string
	every int // give each so manieth cut to the real commands; 0: none
}

// check materialises a cut, as number n, and looks at it.
func (k checker) check(c cut, n int) error {
	base := filepath.Join(filepath.Dir(k.base), fmt.Sprintf("%06d", n))
	err := c.state.materialise(k.base, base)
	if err == nil {
		err = Check(base, k.recorder.Acks, int64(c.ended))
	}

	at := k.scenario.Commands[min(c.ended, len(k.scenario.Commands)-1)]
	switch {
	case err != nil:
	case k.every > 0 && n%k.every == 0:
		err = NextCommands(k.bin, base, at.At)
	default:
		err = Next(base, at.Now())
	}

	return errors.Join(err, remove(base))
}

// all checks all cuts. It returns their number and, if something is wrong, up to ten errors.
func (k checker) all() (n int, wrong []error, err error) {
	cuts, results := make(chan cut), make(chan error)
	var workers sync.WaitGroup
	var mu sync.Mutex

	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for c := range cuts {
				mu.Lock()
				n++
				number := n
				mu.Unlock()
				if err := k.check(c, number); err != nil {
					results <- fmt.Errorf("power cut after %d commands, before or in %v: %w",
						c.ended, k.scenario.Commands[min(c.ended, len(k.steps)-1)], err)
				}
			}
		})
	}

	collected := make(chan struct{})
	go func() {
		for err := range results {
			if len(wrong) < 10 {
				wrong = append(wrong, err)
			}
		}
		close(collected)
	}()

	err = k.cuts(nil, func(c cut) error { cuts <- c; return nil })
	close(cuts)
	workers.Wait()
	close(results)
	<-collected

	return n, wrong, err
}

// A commitment is a way in which a ledger may commit, which the command that creates it decides.
type commitment struct {
	name    string
	flags   []string
	share   int  // one scenario in so many has a turn each day, and all have with DPL_SOAK
	ordered bool // it counts on the order of the names in a directory (spec §17.5)
}

var commitments = []commitment{{name: "rename", share: 4},
	{name: "link", flags: []string{"--commit", "link"}, share: 8, ordered: true}}

func TestPowerLoss(t *testing.T) {
	t.Parallel()
	strace(t)
	bin := build.Commands(t, "../..")
	today := time.Now().YearDay()

	for _, c := range commitments {
		for i, s := range Scenarios(c.flags...) {
			if os.Getenv("DPL_SOAK") == "" && (i+today)%c.share != 0 {
				continue // others each day: the commands do mostly the same
			}
			t.Run(c.name+"/"+s.Name, func(t *testing.T) {
				t.Parallel()
				cutAll(t, s, c, bin)
			})

			for _, at := range repeatable[s.Name] {
				t.Run(fmt.Sprintf("%s/%s/killed/%d", c.name, s.Name, at), func(t *testing.T) {
					t.Parallel()
					killAll(t, s, at, c, bin)
				})
			}
		}
	}
}

// cutAll cuts the power at every point of s, and looks whether the controls are noticed.
func cutAll(t *testing.T, s Scenario, c commitment, bin string) {
	t.Helper()
	k := checker{recording: record(t, s, bin), bin: bin, every: 50}
	k.ordered = c.ordered
	n, wrong, err := k.all()
	if err != nil {
		t.Fatal(err)
	}

	for _, err := range wrong {
		t.Error(err)
	}

	t.Logf("%d states", n)
	k.controls(t)
}
