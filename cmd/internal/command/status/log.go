package status

import (
	"fmt"
	"os"
	"slices"
	"strings"
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
		return cli.Usagef("--group is required with --log, or $DPL_GROUP")
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
	entry := g.Service(service)
	switch {
	case entry != nil && g.Registry.Supervision.Log == group.LogJournal:
		if missing == nil {
			s.env.Warnf("output from before the group logged to the journal is in %s", path)
		}
		return s.journal(group.JournalName(groupID, service), lines, follow)
	case missing != nil && entry == nil:
		return cli.Named("status", groupID, service, group.ErrNoService)
	}

	f := follower{reporter: s, group: groupID, service: service}
	text, err := f.read(entry, lines)
	_, _, terminal := screen.Size()
	p := printer{out: s.env.Stdout, terminal: terminal}
	for ; err == nil; text, err = f.next() {
		err := p.print(text)
		if err == nil {
			err = f.damaged(follow)
		}
		if err != nil || !follow {
			return err
		}
		const pause = 200 * time.Millisecond
		time.Sleep(pause)
	}
	return cli.Named("log", groupID, service, err)
}

// A follower reads the log of a service, and warns when the log loses its name.
type follower struct {
	*reporter
	group, service string
	reader         *logs.Reader
	lost           string // where the log was at the last look, if it had lost its name
}

// read returns the last lines of the log of entry; nil: the service is no longer registered.
func (f *follower) read(entry *group.Service, lines int) ([]byte, error) {
	log, err := f.ledger.ServiceLog(f.group, f.service, entry)
	if err != nil {
		return nil, err
	}
	if started(entry) {
		gone, err := log.Gone()
		if err == nil && gone {
			err = cli.WithStatus(cli.StatusNotFound, fmt.Errorf("there is no log %s: it was moved or "+
				"deleted: the next start of the service begins a new one", log.Path))
		}
		if err != nil {
			return nil, err
		}
	}

	if err := f.warn(log); err != nil {
		return nil, err
	}
	var text []byte
	f.reader, text, err = log.Read(lines)
	return text, err
}

// started reports whether a pass has ever started the command of entry, which then had a log.
func started(entry *group.Service) bool {
	return entry != nil && entry.StartInfo != nil && entry.StartInfo.Command != "" &&
		(entry.LogFile.Inode != 0 || entry.LastExit != nil)
}

// next returns what was written since. If the file at the path is not what the process that was
// last seen writes to, or that has none open, another one may have been started.
func (f *follower) next() ([]byte, error) {
	named, err := f.reader.Named()
	if err == nil && named {
		named, err = f.reader.Held()
	}
	if err == nil && !named {
		err = f.look()
	}
	if err != nil {
		return nil, err
	}
	return f.reader.Next()
}

// damaged warns of the files that could not be read as a whole. Without follow, it returns the last
// of them as an error.
func (f *follower) damaged(follow bool) error {
	all := f.reader.Damaged()
	for i, err := range all {
		err = cli.Named("log", f.group, f.service, err)
		if !follow && i == len(all)-1 {
			return err
		}
		f.env.Warnf("%v", err)
	}
	return nil
}

// look finds out which process writes to the log by now.
func (f *follower) look() error {
	g, err := f.ledger.ReadGroup(f.group)
	if err != nil {
		return err
	}
	log, err := f.ledger.ServiceLog(f.group, f.service, g.Service(f.service))
	if err != nil {
		return err
	}
	f.reader.Holder = log.Holder
	return f.warn(log)
}

// warn warns if the log has lost its name since the last look.
func (f *follower) warn(log logs.Log) error {
	now, err := log.Lost()
	if now != "" && now != f.lost {
		f.env.Warnf("%s: the log of %q has lost its name: process %d writes to %s: "+
			"dpl-restart --group %s --service %s begins a new one", f.group, f.service,
			log.Holder.PID, now, f.group, f.service)
	}
	f.lost = now
	return err
}

// A printer prints text written by others. On a terminal it draws it.
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

// clean returns text, after the rest of the previous one, as harmless.Text draws it, but for
// newlines and tabs. An incomplete character at the end waits for its rest.
func (p *printer) clean(text []byte) (clean []byte) {
	text = append(p.rest, text...)
	end := len(text)
	for i := max(end-utf8.UTFMax, 0); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	p.rest = slices.Clone(text[end:])

	for i, line := range strings.Split(string(text[:end]), "\n") {
		if i > 0 {
			clean = append(clean, '\n')
		}
		for j, cell := range strings.Split(line, "\t") {
			if j > 0 {
				clean = append(clean, '\t')
			}
			clean = append(clean, harmless.Text(cell)...)
		}
	}
	return clean
}
