package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/page"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// page writes the subject to file as a page for a browser; - is stdout.
func (s *reporter) page(what subject, file string) error {
	p, warnings, err := s.pageOf(what)
	if err != nil {
		return err
	}

	for _, err := range warnings {
		s.env.Warnf("%v", err)
		p.Warnings = append(p.Warnings, err.Error())
	}

	text := p.Text()
	if file == "-" {
		io.WriteString(s.env.Stdout, text)
	} else if err := replace(file, text); err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err // the path would be that of a temporary file
		}
		return fmt.Errorf("--html %q: %w", file, err)
	}

	return cli.Exit(picture{warnings: warnings}.status())
}

// pageOf returns the content of the page for the subject.
func (s *reporter) pageOf(what subject) (p page.Page, warnings []error, err error) {
	p = page.Page{Title: what.op + what.group, Now: s.env.Now()}
	switch {
	case what.group != "":
		var g view.Group
		if g, err = s.readGroup(what.group, what.supervisor); err == nil {
			p.Groups, warnings = s.withAlerts([]view.Group{g})
		}
	case what.op != "":
		var op view.Operation
		op, err = s.read(what.op)
		p.Operations = []view.Operation{op}
	default:
		p.Title, p.Whole = "Ledger", true
		if p.Operations, warnings, err = s.readAll(""); err != nil {
			return p, nil, err
		}
		groups, more, err := s.readGroups()
		if err != nil {
			return p, nil, err
		}
		var missing []error
		p.Groups, missing = s.withAlerts(groups)
		warnings = append(append(warnings, more...), missing...)
	}

	return p, warnings, err
}

// withAlerts returns groups with their alerts, and an error for each unreadable alerts file.
func (s *reporter) withAlerts(groups []view.Group) (all []page.Group, warnings []error) {
	const latest = 100
	for _, g := range groups {
		lines, err := s.ledger.Alerts(g.ID, max(g.Registry.AlertSeq-latest, 0))
		if err != nil {
			warnings = append(warnings, cli.Named("status", g.ID, "", err))
		}

		full := page.Group{Group: g}
		for _, line := range lines {
			full.Alerts = append(full.Alerts, alert(line.Text))
		}

		all = append(all, full)
	}

	return all, warnings
}

// alert decodes a line of the alerts file, as far as possible.
func alert(line string) protocol.Alert {
	var said struct{ Type, SupervisorID, Message, Timestamp string }
	json.Unmarshal([]byte(line), &said) // members of another type stay empty

	at, _ := time.Parse(time.RFC3339, said.Timestamp)
	return protocol.Alert{
		Type: protocol.AlertType(said.Type), ServiceID: said.SupervisorID, Message: said.Message,
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

	temp := filepath.Join(filepath.Dir(file), fmt.Sprintf(".%s.%016x", filepath.Base(file),
		rand.Uint64()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}

	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		os.Remove(temp)
	}

	return err
}
