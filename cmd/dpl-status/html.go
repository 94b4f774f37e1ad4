package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/page"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol/group"
)

// page writes the subject to file as a page for a browser; - is stdout.
func (s *reporter) page(what subject, file string) error {
	p, err := s.look(what)
	if err != nil {
		return err
	}

	whole := what.whole()
	html := page.Page{Title: what.op + what.group + what.queue, Now: s.env.Now(),
		Operations: p.ops, Queues: p.queues, Whole: whole}
	if whole {
		html.Title = "Ledger"
	}

	for _, g := range p.groups {
		alerts, err := s.alerts(g)
		if err != nil {
			p.warnings = append(p.warnings, cli.Named("status", g.ID, "", err))
		}
		html.Groups = append(html.Groups, page.Group{Group: g, Alerts: alerts})
	}

	p.warn(s.env)
	for _, err := range p.warnings {
		html.Warnings = append(html.Warnings, err.Error())
	}

	if file == "-" {
		io.WriteString(s.env.Stdout, html.Text())
	} else if err := replace(file, html.Text()); err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // the path would be that of a temporary file
		}
		return fmt.Errorf("--html %q: %w", file, err)
	}

	return cli.Exit(p.status())
}

// alerts returns the latest alerts of g, as many as can be read.
func (s *reporter) alerts(g view.Group) (alerts []group.Alert, err error) {
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

// replace writes text to file completely or not at all, because a browser may be reading it. If
// file is not a regular file, such as /dev/stdout, replace writes to it.
func replace(file, text string) error {
	mode := fs.FileMode(0o600) // only for the owner, like the ledger
	if info, err := os.Stat(file); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(file, []byte(text), 0)
		}
		mode = info.Mode().Perm() // its owner may have let others read it
	}

	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}

	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
