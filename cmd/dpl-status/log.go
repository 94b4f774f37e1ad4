package main

import (
	"os"
	"time"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/view"
	"github.com/dpl-project/dpl/protocol"
)

// logs are the flags that ask for the log of a service.
type logs struct {
	service string
	follow  bool
	lines   int
}

// notGiven is the number of lines without --lines.
const notGiven = -1

func (c *logs) define(f *cli.FlagSet) {
	c.lines = notGiven
	f.String(&c.service, "log", "ID", "with --group: print the end of what service ID printed")
	f.Bool(&c.follow, "follow", "with --log: go on with what it prints from now on, until Ctrl-C")
	f.Short("f")
	f.Count(&c.lines, "lines", "with --log: so many lines, from its rotated files if need be (100)")
}

// check refuses flags that do not go together.
func (c *logs) check(all *status, group string, env *cli.Env) (err error) {
	if c.service == "" {
		if c.follow || c.lines != notGiven {
			return cli.Usagef("--follow and --lines go with --log")
		}
		return nil
	}
	if c.service, err = cli.ID("--log", c.service, ""); err != nil {
		return err
	}
	switch {
	case group == "":
		return cli.Usagef("--log goes with --group")
	case all.supervisor != "" || all.service != "" || all.predicate != "" || all.ids || all.watch || all.html != "" || env.JSON():
		return cli.Usagef("--log goes with none of --service, --check, --ids, --watch, --html and --json")
	}
	if c.lines == notGiven {
		c.lines = 100
	}
	return nil
}

// log prints the end of a service's log and, if what asks for it, what follows. A service that is
// no longer registered may have left its log.
func (s *reporter) log(group string, what logs) error {
	g, err := s.ledger.ReadGroup(group)
	if err != nil {
		return cli.Named("status", group, "", err)
	}
	path := s.ledger.LogPath(group, what.service)
	if _, err := os.Lstat(path); err != nil && g.Service(what.service) == nil {
		return cli.Named("status", group, what.service, protocol.ErrNoService)
	}
	reader, text, err := s.ledger.ReadLog(group, what.service, what.lines)
	if err != nil {
		return cli.Named("log", group, what.service, err)
	}

	_, _, terminal := terminalSize()
	p := printer{out: s.env.Stdout, terminal: terminal}
	for {
		if err := p.print(text); err != nil || !what.follow {
			return err
		}
		const pause = 200 * time.Millisecond
		time.Sleep(pause)
		if text, err = reader.Next(); err != nil {
			return cli.Named("log", group, what.service, err)
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
			clean = append(clean, view.Clean(string(text[:size]))...)
		}
		text = text[size:]
	}
	return clean
}
