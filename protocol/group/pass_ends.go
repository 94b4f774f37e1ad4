package group

import (
	"cmp"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// endPatience is how long a pass awaits the record of an end, once it has found the process gone
// (spec §19.3).
const endPatience = 10 * time.Second

// An ExitLookup returns the record of a start in exits/, and whether there is one. A record whose
// text cannot be understood has no phase.
type ExitLookup func(service, startID string) (x ExitRecord, found bool)

// An ending is what the exit record of a start says to a pass.
type ending struct {
	settled  observe.Evidence // the end is on record: why it has ended; or ""
	awaited  bool             // it has ended, and its keeper has yet to say how
	unbegun  bool             // its command has not begun
	consumed string           // the id of the start, if its record is not needed any more
	child    *childView       // of a service that is a group
}

// learnEnds takes what the records say about the services into them, before they are judged (spec
// §19.3). It asks for a record after it has looked at the process and its keeper: a keeper that is
// gone by then has said all that it will ever say.
func (e *edit) learnEnds(look ExitLookup) map[string]ending {
	found := make(map[string]ending)
	for i := range e.g.Registry.Services {
		s := &e.g.Registry.Services[i]
		if s.Keeper == (observe.Process{}) || s.State.Final() || s.isGroup() || look == nil {
			continue
		}

		if e.seen.Checks(s.Vitals) && !s.Starting {
			continue
		}
		gone := e.seen.Gone(s.Vitals)
		kept := s.kept(e.seen) // before its record: a keeper that is gone has written all of it
		if x, there := look(s.ID, s.StartID); there && x.of(s) {
			found[s.ID] = e.learnEnd(&e.services()[i], x, gone, kept)
		}
	}

	return found
}

// learnEnd takes x, the record of s, into s. gone is the evidence that its process is, and kept
// whether its keeper may still be there.
func (e *edit) learnEnd(s *Service, x ExitRecord, gone observe.Evidence, kept bool) ending {
	switch {
	case x.Phase == PhaseEnded && (x.Complete || gone != "" && !kept) && !e.seen.Checks(s.Vitals):
		s.tell(x.End)
		s.Starting = false
		reason := cmp.Or(observe.Evidence(x.End.Reason), observe.Exited)
		if x.KeeperSignalled && !e.seen.SameBoot(x.Process) {
			reason = observe.Rebooted // the host ended it when it shut down
		}
		return ending{settled: reason, consumed: x.StartID}
	case gone == "":
		return ending{unbegun: x.Phase == PhaseReserved}
	case gone == observe.Exited && e.awaits(s, kept):
		return ending{awaited: true}
	case x.Phase != PhaseReserved:
		s.Starting = false // it has begun, so the start was not lost
	}

	return ending{}
}

// awaits reports whether the record of s, which is gone, may still be completed.
func (e *edit) awaits(s *Service, kept bool) bool {
	if !kept || s.GoneSince.IsZero() {
		return kept
	}
	patience := endPatience
	if s.StartInfo != nil && s.StartInfo.Finish != nil {
		patience += cmp.Or(s.StartInfo.FinishTimeout, DefaultFinishTimeout)
	}
	age := e.seen.Age(s.GoneSince, s.GoneBeat)
	return age >= 0 && age < patience
}

// Writing reports whether the keeper of s, which is gone, may be about to complete x, the record of
// its start. While it waits for the finish command, that may take long.
func (s *Service) Writing(x ExitRecord, seen observe.Observation) bool {
	return !x.Complete && x.End.FinishStatus != FinishUnknown &&
		seen.Gone(s.Vitals) == observe.Exited && s.kept(seen)
}

// kept reports whether the keeper of s may be there.
func (s *Service) kept(seen observe.Observation) bool {
	return seen.CanCheck(s.Keeper) && seen.Gone(observe.Vitals{
		PID: s.Keeper.PID, Process: s.Keeper}) == ""
}

// tell adds what the record says of the end to what the process has told itself.
func (s *Service) tell(end LastExit) {
	if s.Ended != nil {
		told := *s.Ended
		told.OOMKilled, told.CPU, told.MaxRSS = end.OOMKilled, end.CPU, end.MaxRSS
		told.FinishStatus = end.FinishStatus
		if told.sameUse(*s.Ended) {
			return
		}
		end = told
	}
	s.Ended = &end
}

func (e LastExit) sameUse(f LastExit) bool {
	return e.OOMKilled == f.OOMKilled && e.CPU == f.CPU && e.MaxRSS == f.MaxRSS &&
		e.FinishStatus == f.FinishStatus
}

// apply returns j with what is known of the end of its service.
func (x ending) apply(j judgement) judgement {
	j.awaited, j.unbegun = x.awaited, x.unbegun
	if x.settled != "" {
		j.evidence, j.gone, j.alive, j.heard = x.settled, true, false, false
	}
	j.ready = j.ready && !x.unbegun && x.settled == ""
	if j.child = x.child; j.child != nil && !j.was.State.Final() {
		j.unbegun = !j.child.shown
		j.ready = j.was.State == StateRunning && x.settled == "" && j.child.shown &&
			j.child.Ready
	}
	return j
}

// await leaves a service as it is until its keeper has said how it ended.
type await struct{}

func (await) take(a *acting, s *Service) {
	if s.GoneSince.IsZero() {
		s.GoneSince, s.GoneBeat = a.seen.Now, a.seen.Beat()
	}
}
