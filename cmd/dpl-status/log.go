package main

import (
	"os"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/group"
)

// checkLog refuses flags that do not go with --log, or not without it.
func (c *status) checkLog() error {
	switch {
	case c.Log == "" && c.Given("follow", "lines"):
		return cli.Usagef("--follow and --lines go with --log")
	case c.Log == "":
		return nil
	case c.Group == "":
		return cli.Usagef("--log goes with --group")
	case c.Service != "" || c.Check != "" || c.IDs || c.Watch || c.HTML != "" || c.JSON:
		return cli.Usagef("--log goes with none of --service, --check, --ids, --watch, --html and " +
			"--json")
	}

	return nil
}

// log prints the end of a service's log and, with follow, what comes after it. A service that is
// no longer registered may have left its log.
func (s *reporter) log(groupID, service string, lines int, follow bool) error {
	g, err := s.ledger.ReadGroup(groupID)
	if err != nil {
		return cli.Named("status", groupID, "", err)
	}

	path := s.ledger.LogPath(groupID, service)
	_, missing := os.Lstat(path)
	switch registered := g.Service(service) != nil; {
	case registered && g.Registry.Supervision.Log == group.LogJournal:
		if missing == nil {
			s.env.Warnf("output from before the group logged to the journal is in %s", path)
		}
		return s.journal(group.JournalName(groupID, service), lines, follow)
	case missing != nil && !registered:
		return cli.Named("status", groupID, service, group.ErrNoService)
	}

	log, err := s.ledger.ServiceLog(groupID, service, g.Service(service))
	if err != nil {
		return cli.Named("log", groupID, service, err)
	}
	now, err := log.Lost()
	if now != "" {
		s.env.Warnf("%s: the log of %q has lost its name: process %d writes to %s: "+
			"dpl-restart --group %s --service %s begins a new one", groupID, service, log.Holder.PID,
			now, groupID, service)
	}
	var reader *logs.Reader
	var text []byte
	if err == nil {
		reader, text, err = log.Read(lines)
	}
	if err != nil {
		return cli.Named("log", groupID, service, err)
	}

	_, _, terminal := screen.Size()
	p := printer{out: s.env.Stdout, terminal: terminal}
	for {
		if err := p.print(text); err != nil || !follow {
			return err
		}
		const pause = 200 * time.Millisecond
		time.Sleep(pause)
		if text, err = reader.Next(); err != nil {
			return cli.Named("log", groupID, service, err)
		}
	}
}

// A printer prints text written by others. On a terminal it removes control characters.
type printer struct {
	out      interface{ Write(p []byte) (int, error) }
	terminal bool
	rest     []byte // the beginning of an incomplete character
}

func (p *printer) print(text []byte) error {
	if p.terminal {
		text = p.clean(text)
	}
	if len(text) == 0 {
		return nil
	}
	_, err := p.out.Write(text)
	return err
}

// clean returns text, after the rest of the previous one, without control characters except
// newlines and tabs. An incomplete character at the end waits for its rest.
func (p *printer) clean(text []byte) (clean []byte) {
	text = append(p.rest, text...)
	p.rest = nil
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			p.rest = append(p.rest, text...)
			break
		}

		r, size := utf8.DecodeRune(text)
		if r == '\n' || r == '\t' {
			clean = append(clean, byte(r))
		} else {
			clean = append(clean, harmless.Text(string(text[:size]))...)
		}

		text = text[size:]
	}

	return clean
}
