package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/screen"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
)

// read calls each with the good lines of object, pending ones among them, oldest first.
func read(object fileops.Audited, each func(audit.Line)) (record.End, error) {
	last, count := int64(0), int64(0)
	var authors audit.Authors
	take := func(text string) {
		l, err := audit.Parse(text)
		if err != nil || l.Seq <= last {
			return
		}
		last = l.Seq
		count++
		authors.Resolve(&l)
		each(l)
	}

	end, err := object.Read(func(lines []string) {
		for _, text := range lines {
			take(text)
		}
	})
	if err != nil {
		return end, err
	}
	for _, text := range end.Chain.Pending {
		take(text)
	}
	switch {
	case count == 0 && end.Err != nil:
		return end, end.Err
	case count == 0:
		return end, fileops.ErrNoRecord
	}
	return end, nil
}

// chosen is the lines to be shown.
type chosen struct {
	flags        *auditor
	events       func(audit.Line) []audit.Event
	since, until time.Time
	records      []model.Record
}

// take keeps l if the flags ask for it.
func (c *chosen) take(l audit.Line) {
	f := c.flags
	if !c.since.IsZero() && l.At.Before(c.since) || !c.until.IsZero() && l.At.After(c.until) {
		return
	}
	if f.Task != "" && !touches(l, string(f.Task)) {
		return
	}

	events := c.events(l)
	is := func(e audit.Event) bool { return e.Is(string(f.Kind)) }
	if f.Kind != "" && !slices.ContainsFunc(events, is) {
		return
	}
	c.records = append(c.records, model.Record{Line: l, Events: events})
	if n := int(f.Last); f.Given("last") && len(c.records) > 2*n+1000 {
		c.records = slices.Clone(c.records[len(c.records)-n:])
	}
}

// touches reports whether l is about task.
func touches(l audit.Line, task string) bool {
	return l.Note != nil && l.Note.Task == task ||
		slices.ContainsFunc(l.Patch, func(c audit.Change) bool {
			in, rest, _ := strings.Cut(c.Path, "/")
			id, _, _ := strings.Cut(rest, "/")
			return in != "counters" && id == task ||
				(c.Path == "" || in == "ended") && strings.Contains(c.After, `"taskId":"`+task+`"`)
		})
}

// show prints the lines that the flags ask for, the newest first.
func (c *auditor) show(env *cli.Env, object fileops.Audited) error {
	all, now := &chosen{flags: c, events: object.Events}, env.Now()
	if c.Since != "" {
		all.since, _ = c.Since.Time(now) // it was parsed before
	}
	if c.Until != "" {
		all.until, _ = c.Until.Time(now)
	}
	if _, err := read(object, all.take); err != nil {
		return err
	}
	if c.Given("last") {
		all.records = all.records[max(0, len(all.records)-int(c.Last)):]
	}

	style := screen.Style()
	slices.Reverse(all.records)
	for i, r := range all.records {
		if env.JSON() {
			fmt.Fprintf(env.Stdout, "%s", env.JSONLine(lineObject(r)))
			continue
		}
		if i > 0 {
			fmt.Fprintln(env.Stdout)
		}
		r.User = userName(r.By.User)
		fmt.Fprint(env.Stdout, style.Record(r, now, c.Full))
	}
	return nil
}

// userName returns the name of the user with that number on this host.
func userName(user string) string {
	if n, err := strconv.Atoi(user); err == nil {
		return trust.UserName(n)
	}
	return user
}
