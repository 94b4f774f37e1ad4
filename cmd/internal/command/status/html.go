package status

import (
	"encoding/json"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/cmd/internal/show/page"
	"github.com/dpl-project/dpl/protocol/group"
)

// page writes the subject to file as a page for a browser; - is stdout. A browser reads it again
// every refresh, unless that is 0.
func (s *reporter) page(what subject, file string, refresh time.Duration) error {
	p, err := s.look(what)
	if err != nil {
		return err
	}

	html := s.pageOf(&p)
	html.Refresh = refresh
	p.warn(s.env)
	if err := s.writeFile("--html", file, html.Text(), forOwner); err != nil {
		return err
	}
	return cli.Exit(p.status())
}

// pageOf returns the page of p, to which it adds what could not be read.
func (s *reporter) pageOf(p *picture) page.Page {
	html := page.Page{Title: p.op + p.group + p.queue, Now: s.env.Now(), Ledger: s.ledger.Dir(),
		Operations: p.ops, Queues: p.queues, Whole: p.whole()}
	if html.Whole {
		html.Title = "Ledger"
	}

	for _, g := range p.groups {
		alerts, err := s.alerts(g)
		if err != nil {
			p.warnings = append(p.warnings, cli.Named("status", g.ID, "", err))
		}
		html.Groups = append(html.Groups, page.Group{Group: g, Alerts: alerts})
	}

	html.Records = s.records(p)
	for _, err := range p.warnings {
		html.Warnings = append(html.Warnings, err.Error())
	}
	return html
}

// alerts returns the latest alerts of g, as many as can be read.
func (s *reporter) alerts(g model.Group) (alerts []group.Alert, err error) {
	const latest = 100
	lines, err := s.ledger.Alerts(g.ID, max(g.Registry.AlertSeq-latest, 0))
	for _, line := range lines {
		alerts = append(alerts, alert(line.Text))
	}
	return alerts, err
}

// alert decodes a line of the alerts file, as far as possible.
func alert(line string) group.Alert {
	var said struct{ Type, SupervisorID, Message, Timestamp string }
	json.Unmarshal([]byte(line), &said) // members of another type stay empty

	at, _ := time.Parse(time.RFC3339, said.Timestamp)
	return group.Alert{
		Type: group.AlertType(said.Type), ServiceID: said.SupervisorID, Message: said.Message,
		Timestamp: at,
	}
}
