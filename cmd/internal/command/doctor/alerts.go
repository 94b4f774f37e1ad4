package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
)

// alerts reports what hooks have not taken.
func (p *checkup) alerts() []finding { return append(p.alertsWaiting(), p.alertsLost()...) }

// alertsWaiting reports alerts that a hook has asked for again, or that no pass has given to one.
func (p *checkup) alertsWaiting() (found []finding) {
	const usual = time.Minute // in which a pass gives its alerts
	for _, f := range p.files {
		if f.Kind != layout.SupervisorsFile || f.Registry.AlertsGiven == group.NoneGiven {
			continue
		}

		lines, err := p.survey.Ledger.Alerts(f.ID, f.Registry.AlertsGiven)
		if err != nil {
			found = append(found, warning.about(f.name, err.Error(), ""))
		}
		lines = slices.DeleteFunc(lines, func(line group.AlertLine) bool {
			return group.ReadAlert(line.Text).Silenced
		})
		if len(lines) == 0 {
			continue
		}

		first := group.ReadAlert(lines[0].Text)
		switch t := f.Registry.AlertTries; {
		case t != nil && t.Seq == first.Seq:
			found = append(found, warning.about(f.name,
				fmt.Sprintf("the hook asks for alert %d again, after %d of %d tries: %s: %s; alerts that wait: %d",
					first.Seq, t.Tries, group.MaxAlertTries, subject(first), first.Message, len(lines)),
				"see what the command of --on-alert prints"))
		case p.seen.Now.Sub(first.Timestamp) >= usual:
			found = append(found, warning.about(f.name,
				fmt.Sprintf("no pass gives alerts to a hook since %s: %s: %s; alerts that wait: %d",
					first.Timestamp.UTC().Format(time.RFC3339), subject(first), first.Message, len(lines)),
				"dpl-orchestrate --on-alert gives them"))
		}
	}
	return found
}

// alertsLost reports alerts of the last days that a hook has not taken in its last try.
func (p *checkup) alertsLost() (found []finding) {
	const recent = 7 * 24 * time.Hour
	for _, f := range p.files {
		if f.Kind != layout.SupervisorsFile || len(f.Registry.AlertsLost) == 0 {
			continue
		}

		lost := f.Registry.AlertsLost
		lines, err := p.survey.Ledger.Alerts(f.ID, slices.Min(lost)-1)
		if err != nil {
			found = append(found, warning.about(f.name, err.Error(), ""))
		}
		for _, line := range lines {
			a := group.ReadAlert(line.Text)
			if slices.Contains(lost, line.Seq) && p.seen.Now.Sub(a.Timestamp) < recent {
				text := fmt.Sprintf("the hook took alert %d in none of its tries: %s: %s", a.Seq,
					subject(a), a.Message)
				found = append(found, warning.about(f.name, text,
					"see what the command of --on-alert prints"))
			}
		}
	}
	return found
}

// subject says what a is about.
func subject(a group.Alert) string {
	if a.ServiceID == "" {
		return string(a.Type)
	}
	return string(a.Type) + " of " + a.ServiceID
}
