package doctor

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A stamp is a time in a file.
type stamp struct {
	object    string
	at        time.Time
	beat      observe.Beat
	threshold time.Duration
}

// clock compares the clocks of this machine with the times in the files.
func (p *checkup) clock() (found []finding) {
	if p.seen.Now.Year() < 2020 {
		text := "it is " + p.seen.Now.Format(time.RFC3339) +
			" by the wall clock, before DPL was made"
		found = append(found, problem.about("", text, "set the clock"))
	}

	linked := p.survey.Ledger.Config().Commit == fileops.CommitLink
	var newest stamp
	for _, f := range p.files {
		if f.Kind == layout.ArchivedFile || f.Kind == layout.ArchivedRegistry {
			continue
		}

		latest := stamp{}
		for _, s := range p.stamps(f) {
			if s.at.After(latest.at) {
				latest = s
			}
			if p.seen.Monotonic(s.at, s.beat) && s.beat.MonotonicMs > newest.beat.MonotonicMs {
				newest = s
			}
		}

		found = append(found, checkFutureTimes(latest, p.seen.Now, linked)...)
	}

	suspended := process.Uptime() - time.Duration(p.seen.MonotonicMs)*time.Millisecond
	return append(found, checkClockStep(newest, p.seen, suspended)...)
}

// checkFutureTimes reports a time that is more than the threshold in the future. Such a time counts
// as stale, except where the clocks of hosts are not compared.
func checkFutureTimes(s stamp, now time.Time, linked bool) []finding {
	by := s.at.Sub(now)
	if by <= s.threshold {
		return nil
	}

	bad, text := problem, "a time in it is "+span(by)+" in the future"
	if linked {
		bad = warning
	} else {
		text += ", and so counts as stale"
	}
	return []finding{bad.about(s.object, text,
		"the clock of this machine was set back, or that of the writer is wrong: set it")}
}

// checkClockStep reports a wall clock that was set since the newest heartbeat of this boot. While
// the machine is suspended, the wall clock advances and the monotonic clock does not.
func checkClockStep(s stamp, seen observe.Observation, suspended time.Duration) []finding {
	if s.object == "" || seen.MonotonicMs == 0 {
		return nil
	}

	since := time.Duration(seen.MonotonicMs-s.beat.MonotonicMs) * time.Millisecond
	by := max(min(seen.Now.Sub(s.at), longest), -longest) - since
	threshold := min(s.threshold, longest)
	if by >= -threshold && by <= suspended+threshold {
		return nil
	}

	direction := "on"
	if by < 0 {
		direction, by = "back", -by
	}

	text := fmt.Sprintf("the wall clock was set %s by %s since the last heartbeat; ages are not "+
		"affected", direction, span(by))
	return []finding{note.about(s.object, text, "")}
}

// stamps returns the times in a file that are compared with the clock.
func (p *checkup) stamps(f file) (all []stamp) {
	add := func(at time.Time, beat observe.Beat, threshold time.Duration) {
		all = append(all, stamp{f.name, at, beat, threshold})
	}

	if op := f.Operation; op != nil {
		add(op.LastHeartbeat, observe.Beat{}, op.StalenessThreshold)
		for _, frame := range op.Stack {
			add(frame.LastHeartbeat, frame.Beat, op.StalenessThreshold)
		}
		for _, s := range op.Supervisors {
			add(s.LastHeartbeat, s.Beat, op.StalenessThreshold)
		}
	}

	if o := f.Orchestrator; o != nil {
		add(o.Heartbeat, o.Beat, o.StalenessThreshold)
	}

	if r := f.Registry; r != nil {
		threshold := p.groupThreshold(f.ID)
		for _, s := range r.Services {
			add(s.LastHeartbeat, s.Beat, threshold)
		}
	}

	return all
}

// groupThreshold returns the threshold of a group, which its orchestrator file has.
func (p *checkup) groupThreshold(id string) time.Duration {
	for _, f := range p.files {
		if f.Orchestrator != nil && f.ID == id {
			return f.Orchestrator.StalenessThreshold
		}
	}
	return group.DefaultThreshold
}

// span returns d in the units of everyday use, such as 3 days or 2h5m.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Minute:
		d = d.Round(time.Minute)
		text := fmt.Sprintf("%dm", d%time.Hour/time.Minute)
		if d >= time.Hour {
			text = fmt.Sprintf("%dh%s", d/time.Hour, text)
		}
		return text
	}

	return d.Round(time.Second).String()
}
