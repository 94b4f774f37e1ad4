package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops/simfs"
)

// history is a run of several processes on one disk. The seed decides their order, system call by
// system call.
type history struct {
	r     *rand.Rand
	disk  *simfs.Disk
	acked []string // edits whose commands returned nil
	weak  []string // of those, heartbeats
	maybe []string // edits whose commands were killed or do not know
	wrong error    // the error that a process found
}

// turn is one process that waits to be allowed its next system call.
type turn struct {
	next      chan struct{}
	stopped   chan bool // true: it has ended
	blockedBy *simfs.Node
}

func (h *history) start(p *simfs.Process, program func()) *turn {
	t := &turn{next: make(chan struct{}), stopped: make(chan bool)}
	p.Disk = h.disk
	p.Yield = func() {
		t.stopped <- false
		<-t.next
	}

	p.Wait = func(n *simfs.Node) bool {
		t.blockedBy = n
		p.Yield()
		t.blockedBy = nil
		return true
	}

	go func() {
		<-t.next
		p.Run(program)
		t.stopped <- true
	}()

	return t
}

// play lets the processes run until all have ended.
func (h *history) play(turns []*turn) error {
	for len(turns) > 0 {
		ready := slices.DeleteFunc(slices.Clone(turns),
			func(t *turn) bool { return t.blockedBy != nil && t.blockedBy.Locked() })
		if len(ready) == 0 {
			return errors.New("everybody waits for a lock that nobody holds")
		}

		t := ready[h.r.IntN(len(ready))]
		t.next <- struct{}{}
		if <-t.stopped {
			turns = slices.DeleteFunc(turns, func(other *turn) bool { return other == t })
		}
	}

	return nil
}

// process is a few commands by one simulated process, which may be killed in any of them.
func (h *history) process(name string, bug simfs.Process) *turn {
	p := bug
	if h.r.IntN(2) == 0 {
		p.Fault.At = 1 + h.r.IntN(60)
	}

	kinds := []int{h.r.IntN(5), h.r.IntN(5), h.r.IntN(5)}
	return h.start(&p, func() {
		l, err := simOpen(&p)
		if err != nil {
			h.wrong = fmt.Errorf("open: %w", err)
			return
		}
		for i, kind := range kinds {
			h.command(l, kind, fmt.Sprint(name, i))
		}
	})
}

func (h *history) command(l *Ledger, kind int, edit string) {
	switch kind {
	case 0:
		if err := l.Edit("op", Existing, archive); err != nil && !errors.Is(err, ErrNotFound) &&
			!errors.Is(err, ErrArchived) {
			h.wrong = fmt.Errorf("archive: %w", err)
		}
	case 1:
		acked := len(h.acked) // before it looks; the first edit may be made as it returns
		data, _, err := l.Read("op")
		if err == nil {
			_, err = decodeEdits(data)
		}
		if err != nil && !(errors.Is(err, ErrNotFound) && acked == 0) {
			h.wrong = fmt.Errorf("read: %w", err)
		}
	case 2:
		if err := l.Sweep(); err != nil {
			h.wrong = fmt.Errorf("sweep: %w", err)
		}
	default:
		h.maybe = append(h.maybe, edit)
		if err := l.Edit("op", OrCreate, add(edit, kind == 3)); err != nil {
			h.wrong = fmt.Errorf("edit: %w", err)
			return
		}
		h.acked = append(h.acked, edit)
		if kind == 3 {
			h.weak = append(h.weak, edit)
		}
	}
}

func playHistory(seed uint64, bug simfs.Process) error {
	h := &history{r: rand.New(rand.NewPCG(seed, 1)), disk: simfs.New()}
	var turns []*turn
	for _, name := range []string{"a", "b", "c"} {
		turns = append(turns, h.process(name, bug))
	}

	if err := h.play(turns); err != nil {
		return err
	}
	if h.wrong != nil {
		return h.wrong
	}

	powerLost := h.r.IntN(2) == 0
	if powerLost {
		h.disk.PowerLoss(h.r)
	}
	if err := h.judge(powerLost); err != nil {
		return err
	}

	return scenario{}.sweep(h.disk, powerLost)
}

// judge looks for edits that were acknowledged and are lost, made twice, or never asked for.
func (h *history) judge(powerLost bool) error {
	found, err := survey(h.disk)
	if err != nil {
		return err
	}

	times := map[string]int{}
	for _, edits := range found {
		for _, edit := range edits {
			times[edit]++
		}
	}

	for edit, n := range times {
		if n > 1 || !slices.Contains(h.maybe, edit) {
			return fmt.Errorf("%s is there %d times: %v", edit, n, found)
		}
	}

	for _, edit := range h.acked {
		if times[edit] == 0 && !(powerLost && slices.Contains(h.weak, edit)) {
			return fmt.Errorf("%s is lost (power cut: %v): %v", edit, powerLost, found)
		}
	}

	return nil
}

func TestInterleavings(t *testing.T) {
	t.Parallel()
	seeds := uint64(5000)
	if testing.Short() {
		seeds = 1000
	}

	for seed := range seeds {
		if err := playHistory(seed, simfs.Process{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The checker has to notice the bugs it is for.
func TestCheckerNoticesSeededBugs(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]simfs.Process{
		"no lock": {NoLock: true}, "no fsync of files": {NoFileSync: true},
		"no fsync of directories": {NoDirSync: true},
	} {
		noticed := false
		for seed := uint64(0); seed < 500 && !noticed; seed++ {
			if err := playHistory(seed, bug); err != nil {
				noticed = true
				t.Logf("%s: seed %d: %v", name, seed, err)
			}
		}

		if !noticed {
			t.Errorf("%s passes", name)
		}
	}
}
