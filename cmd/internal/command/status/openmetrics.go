package status

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/show/metrics"
)

// metrics writes the subject to file as metrics; - is stdout. What cannot be read becomes a metric as
// well, even if it is the whole subject: otherwise the values of the last time would stay.
func (s *reporter) metrics(what subject, file string) error {
	p, failed := s.look(what)
	switch {
	case failed == nil:
	case what.whole() || !unreadable(failed):
		return failed
	default:
		p = picture{subject: what, missing: missing(what)}
	}

	m := metrics.Subject{
		Operations: p.ops, Groups: p.groups, Queues: p.queues, Now: s.env.Now(),
		Unreadable: p.missing, Version: entry.Version().Version,
		Counts: what.whole() || what.op != "", Calls: what.op != "",
	}
	if err := s.writeFile("--openmetrics", file, m.Text(), forAll); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}

	p.warn(s.env)
	return cli.Exit(p.status())
}

// unreadable reports whether err means that something is there and cannot be read.
func unreadable(err error) bool {
	return slices.Contains([]int{cli.StatusCorrupt, cli.StatusIO, cli.StatusPermission},
		cli.StatusOf(err))
}

// missing returns what is missing if the subject cannot be read.
func missing(what subject) (m metrics.Unreadable) {
	switch {
	case what.queue != "":
		m.Queues = 1
	case what.group != "":
		m.Groups = 1
	default:
		m.Operations = 1
	}
	return m
}
