package doctor

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
)

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
