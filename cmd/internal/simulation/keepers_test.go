package simulation

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// statuses are those that services end with.
var statuses = []int{0, 0, 1, 3, 75}

func (w *world) exitStatus() int { return statuses[w.r.IntN(len(statuses))] }

// startKeepers lets keepers see what has ended. Some are killed before, and some never get to it.
func (w *world) startKeepers() {
	for _, p := range w.ended {
		switch k := p.keeper; {
		case k.dead:
		case w.chance(12):
			w.tell("the keeper of %d is killed", p.PID)
			w.did(didKeeperKilled)
			k.kill()
		case w.chance(20):
			w.tell("the keeper of %d is stopped", p.PID)
			w.did(didKeeperStopped)
		default:
			w.start("keeper-"+p.role, k, keeping(p))
		}
	}

	w.ended = w.ended[:0]
}

// keeping is the keeper of p, which has ended.
func keeping(p *proc) func(a *actor) {
	return func(a *actor) {
		a.sleep(a.w.pick3(0, 5, 3000))
		a.command("keep", false, func(c *command) error {
			err := p.recordEnd(&c.fs)
			if errors.Is(err, fs.ErrNotExist) { // a pass knows already, and has removed the record
				return nil
			}
			return err
		})
	}
}

// recordEnd does with the exit record of p what the keeper does (spec §19.2, 3).
func (p *proc) recordEnd(fs *simfs.Process) error {
	x, err := p.recorded()
	switch {
	case p.keeper == nil || err != nil:
		return nil
	case x.Phase == group.PhaseReserved:
		return fs.Remove(p.record)
	case x.Phase == group.PhaseExec:
		end := p.end
		end.At = p.host.wallClock()
		if err := p.writes(fs, group.PhaseEnded, end); err != nil {
			return err
		}
	}

	f, err := fs.Open(p.record)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fs.Move(p.record, layout.CompleteExit(p.record))
	}
	if err == nil {
		f, err = fs.Open(filepath.Dir(p.record))
	}
	if err == nil {
		err = f.Sync()
	}

	p.host.w.did(didRecord)
	if err == nil {
		p.told = p.host.w.now
	}
	return err
}

// recorded returns the exit record of p as it is on the disk.
func (p *proc) recorded() (group.ExitRecord, error) {
	text, err := p.host.w.disk.ReadFile(p.record)
	if err != nil {
		return group.ExitRecord{}, err
	}
	return group.DecodeExitRecord(string(text))
}

// writes puts phase and end in the exit record of p, if it has one.
func (p *proc) writes(fs *simfs.Process, phase group.ExitPhase, end policy.Exit) error {
	x, err := p.recorded()
	if p.keeper == nil || err != nil {
		return nil
	}
	x.Phase, x.End = phase, end
	x.KeeperSignalled = p.orderly && p.host.w.bug != bugUnsignalled
	return fs.Overwrite(p.record, []byte(x.Encode()))
}

// checkEnds checks what a pass says of the ends of processes: it is true, and it is said once.
func (w *world) checkEnds(before, after group.Group) {
	for _, s := range after.Registry.Services {
		old := before.Service(s.ID)
		if old == nil || s.LastExit == nil || s.LastExit == old.LastExit || s.LastExit.Code == "" {
			continue
		}

		w.did(didStatusKnown)
		got, p := s.LastExit, w.started[old.StartID]
		switch {
		case p != nil && p.dead && p.belied: // nobody knows how
		case p == nil || !p.dead:
			w.fail("%s is said to have ended as %s, and it lives", s.ID, words(*got))
		case got.Code != p.end.Code || got.Status != p.end.Status:
			w.fail("%s is said to have ended as %s, and has ended as %s", s.ID, words(*got),
				words(p.end))
		}
	}
}

// checkBoots checks what a pass, which decided at that time, says of services that have ended: what
// their records say, and that nobody is charged for a boot. (A power cut may take the directory of
// the records, if the pass that made it was killed before it was durable.)
func (c *command) checkBoots(before, after group.Group, decided int64) {
	w := c.w
	if len(w.hosts) > 1 || c.hit() {
		return
	}
	for _, s := range after.Registry.Services {
		old := before.Service(s.ID)
		if old == nil || old.State != group.StateRunning || s.LastExit == nil || s.LastExit == old.LastExit {
			continue
		}

		p, exit := w.started[old.StartID], s.LastExit
		earlier := old.Process.BootID != "" && old.Process.BootID != w.hosts[0].bootID()
		switch judged := exit.Reason == "exited" || exit.Reason == "rebooted" || exit.Reason == "stale"; {
		case !judged:
		case earlier && p != nil && p.orderly && exit.Reason != "rebooted":
			w.fail("%s has ended with its host, and the pass says %s", s.ID, words(*exit))
		case p != nil && p.told > 0 && p.told < decided && !p.belied && !w.powerLost && exit.Code == "":
			w.fail("%s has a record of how it ended, %s, and the pass says %s", s.ID, words(p.end), words(*exit))
		case earlier && exit.Reason == "stale" && !w.kind.clockSteps:
			w.fail("%s ended with its host, and the pass says %s", s.ID, words(*exit))
		}
	}
}

func words(end policy.Exit) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %d %s", end.Reason, end.Code, end.Status, end.Error))
}

// awaited reports whether a pass that sees seen may wait until the keeper of s has said how its
// process has ended.
func (l look) awaited(before, after *group.Service) bool {
	k := before.Keeper
	lives, _ := l.sees(mortal{process: k})
	return lives && after.State == before.State && !after.GoneSince.IsZero()
}
