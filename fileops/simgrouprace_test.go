package fileops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops/simfs"
)

// passes runs some commands on the group g in one simulated process, which may be killed in any of
// them.
func (h *history) passes(name string, bug simfs.Process) *turn {
	p := bug
	if h.r.IntN(2) == 0 {
		p.Fault.At = 1 + h.r.IntN(90)
	}

	kinds := []int{h.r.IntN(5), h.r.IntN(5), h.r.IntN(5)}
	return h.start(&p, func() {
		l, err := simOpen(&p)
		for i, kind := range kinds {
			if err == nil {
				err = h.groupCommand(l, kind, fmt.Sprint(name, i))
			}
		}

		if err != nil {
			h.wrong = err
		}
	})
}

func (h *history) groupCommand(l *Ledger, kind int, name string) error {
	switch kind {
	case 0:
		acked := len(h.acked)
		g, err := l.ReadGroup("g")
		switch {
		case errors.Is(err, ErrNoGroup) && acked == 0:
			return nil
		case err == nil && int(g.Orchestrator.Revision) > len(namesOf(g)):
			return fmt.Errorf("read: orchestrator before registry: %+v", g)
		}
		return err
	case 1:
		return l.Sweep()
	case 2:
		err := l.HoldGroup("g", OrCreate, func(*GroupTx) error { return errRefused })
		if errors.Is(err, errRefused) {
			err = nil
		}
		return err
	}

	h.maybe = append(h.maybe, name)
	err := (&passing{name: name, fresh: kind == 3}).run(l)
	if err == nil {
		h.acked = append(h.acked, name)
	}

	return err
}

func playPasses(seed uint64, bug simfs.Process) error {
	h := &history{r: rand.New(rand.NewPCG(seed, 2)), disk: simfs.New()}
	var turns []*turn
	for _, name := range []string{"a", "b", "c"} {
		turns = append(turns, h.passes(name, bug))
	}

	if err := errors.Join(h.play(turns), h.wrong); err != nil {
		return err
	}

	var power *rand.Rand
	if h.r.IntN(2) == 0 {
		power = h.r
		h.disk.PowerLoss(h.r)
	}

	l, err := simOpen(&simfs.Process{Disk: h.disk})
	if err == nil {
		err = nextPass(l, h.disk, passing{}, power)
	}
	if err != nil {
		return err
	}

	g, err := l.ReadGroup("g")
	names := namesOf(g)
	for i, name := range names {
		if name != "next" && !slices.Contains(h.maybe, name) || slices.Contains(names[:i], name) {
			return fmt.Errorf("%s is there twice or was never asked for: %q", name, names)
		}
	}

	for _, name := range h.acked {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s is lost: %q", name, names)
		}
	}

	return err
}

func TestPassInterleavings(t *testing.T) {
	t.Parallel()
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 600
	}

	for seed := range seeds {
		if err := playPasses(seed, simfs.Process{}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The checker has to notice the bugs it is for.
func TestCheckerNoticesBugsBetweenPasses(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]simfs.Process{
		"no lock": {NoLock: true}, "no fsync of files": {NoFileSync: true},
		"no fsync of directories": {NoDirSync: true},
	} {
		var noticed error
		for seed := uint64(0); seed < 500 && noticed == nil; seed++ {
			noticed = playPasses(seed, bug)
		}
		if noticed == nil {
			t.Errorf("%s passes", name)
		}
	}
}
