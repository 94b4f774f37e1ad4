//go:build linux

package nights

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A night is one run of the job.
type night struct {
	number int
	kind   string
	began  time.Time
	before published // when it began

	disturbed time.Time // zero: nothing has happened
	cause     string    // the pattern of the right cause
	runner    string    // the call whose dpl-run was killed, or ""
	outer     bool      // the outermost dpl-run was killed, and cannot report anything
	publishes bool      // it has to publish although something has happened
	rebooted  bool
	undo      func() // after its end

	status   int // of the line; -1 under a real cron, which does not tell
	output   string
	failed   bool
	cleanups int // since its end
}

// enough is how often dpl-cleanup may have to run until it reports a failure: it finds the crash,
// and cleans up.
const enough = 2

// awake is how long a night may take after the rig has done its part: more than the minute for
// which a stage may wait for others.
const awake = 100 * time.Second

// night runs the job once, and disturbs it.
func (w *world) night(k kind) *night {
	w.count++
	n := &night{number: w.count, kind: k.name, began: time.Now().Truncate(time.Millisecond),
		before: w.reader.look(), status: -1}

	ended := make(chan struct{})
	if w.cron {
		if !w.awaitCron() {
			w.receive()
			w.fault(n, "cron has not started it, or it has ended at once: mails: %q", w.unread)
			return n
		}
		close(ended)
	} else {
		go func() {
			n.status, n.output = w.play(w.line)
			close(ended)
		}()
	}

	if k.do != nil {
		k.do(w, n, ended)
	}
	undo := n.undo
	if !poll.Within(awake, func() bool { return w.hasEnded(ended) }) {
		w.fault(n, "it hangs: %v", w.processes())
		w.killAll()
		<-ended
	}

	took := time.Duration(0)
	if !n.disturbed.IsZero() {
		took = time.Since(n.disturbed)
	}
	if undo != nil {
		undo()
	}

	w.unread += n.output
	w.judge(n)
	if n.failed {
		w.pending = append(w.pending, n)
	}
	if !w.cron {
		for range w.choose.IntN(4) {
			w.cleanUp(n)
		}
	}
	w.settle(n)
	w.tally(n, took)
	return n
}

// hasEnded reports whether the job and all that it has started have ended.
func (w *world) hasEnded(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return len(w.processes()) == 0
	default:
		return false
	}
}

// cleanUp runs the line of dpl-cleanup.
func (w *world) cleanUp(n *night) {
	status, mail := w.play(cleanup)
	w.unread += mail
	for _, due := range w.pending {
		due.cleanups++
	}
	if status != 0 {
		w.fault(n, "dpl-cleanup exits %d: %s", status, mail)
	}
}

// judge decides whether a night has failed, and whether it may have.
func (w *world) judge(n *night) {
	now := w.reader.look()
	w.reader.mu.Lock()
	for _, why := range w.reader.broken[w.broken:] {
		w.fault(n, "a broken file was published: %s", why)
	}
	w.broken = len(w.reader.broken)
	w.reader.mu.Unlock()

	op := w.last()
	if !n.rebooted && op.began().Before(n.began) {
		if n.outer && !n.disturbed.IsZero() && n.status != 0 {
			return // it was killed before it had begun
		}
		if w.cron {
			w.receive()
		}
		w.fault(n, "it has not run: exit status %d: %q", n.status, w.unread)
		return
	}

	if n.runner != "" && op.ended(n.runner) {
		// It was killed after its last edit, and only the shell has seen it; or it was a fork of
		// the dpl-run, which was about to become the command.
		n.cause = `\bsh-.*exit status 137|` + n.cause
		w.unread = strings.Replace(w.unread, "Killed\n", "", 1)
	}
	n.failed = op.State != "completed"
	if !n.failed && n.outer { // it was killed after all was done
		w.unread = strings.Replace(w.unread, "Killed\n", "", 1)
	}
	if n.failed {
		w.fails++
	}
	switch {
	case n.failed && (n.disturbed.IsZero() || n.publishes):
		w.fault(n, "it has failed without a cause: %+v\n%s", op.Transitions, n.output)
	case n.failed && n.status == 0:
		w.fault(n, "it has failed, and exits 0")
	case !n.failed && n.status > 0 && n.disturbed.IsZero():
		w.fault(n, "it is completed, and exits %d\n%s", n.status, n.output)
	case !n.failed && (!now.isPublished || now == n.before):
		w.fault(n, "it is completed, and has published nothing\n%s", n.output)
	}
}

// report is a line that reports a failed night.
var report = regexp.MustCompile(`(?m)^.*\bnightly\b.*\bfailed\b.*$`)

// settle compares the mails with what they have to report: each night that has failed, and nothing
// else. A night whose outermost dpl-run was killed is reported by the next run or by dpl-cleanup,
// so it may wait for these.
func (w *world) settle(n *night) {
	due := w.pending
	if w.cron {
		w.receive()
	}

	text := w.unread
	reports := report.FindAllString(text, -1)
	w.unread, w.pending = "", nil

	for _, failed := range due {
		right := regexp.MustCompile(failed.cause)
		at := slices.IndexFunc(reports, right.MatchString)
		switch {
		case at >= 0:
			reports = slices.Delete(reports, at, at+1)
		case failed.mayWait():
			w.pending = append(w.pending, failed)
		case len(reports) > 0:
			w.fault(failed, "the cause is wrong: want %s, got %q", failed.cause, reports[0])
			reports = reports[1:]
		default:
			w.fault(failed, "no mail reports it; mails since: %q", text)
		}
	}

	for _, line := range reports {
		w.fault(n, "a mail too many: %q", line)
	}
	if len(due) == 0 && len(reports) == 0 && strings.TrimSpace(text) != "" {
		w.fault(n, "it is completed, and mails %q", text)
	}
}

// mayWait reports whether a failure may still be reported later.
func (n *night) mayWait() bool { return n.outer && n.cleanups < enough }

// receive reads the mails that cron has sent. They come a moment after the end of a job. A night
// later, dpl-cleanup has had the time that it needs.
func (w *world) receive() {
	want := 0
	for _, due := range w.pending {
		if due.number < w.count {
			due.cleanups = enough
		}
		if !due.mayWait() {
			want++
		}
	}

	poll.Within(5*time.Second, func() bool {
		names, _ := filepath.Glob(filepath.Join(w.spool, "mail.*"))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err == nil && os.Remove(name) == nil {
				_, body, _ := strings.Cut(string(text), "\n\n")
				w.unread += body
			}
		}
		return len(report.FindAllString(w.unread, -1)) >= want
	})
}

// A tally counts the nights of one kind.
type tally struct {
	nights, missed, published, failed int
	longest                           time.Duration // from the disturbance to the end
}

func (w *world) tally(n *night, took time.Duration) {
	c := w.tallies[n.kind]
	if c == nil {
		c = &tally{}
		w.tallies[n.kind] = c
	}
	c.nights++
	if w.reader.look() != n.before {
		c.published++
	}
	if n.failed {
		c.failed++
	}
	if n.kind != undisturbed.name && (n.disturbed.IsZero() || !n.failed && !n.publishes) {
		c.missed++
	}
	c.longest = max(c.longest, took)
}

// table returns the tallies of worlds as a table.
func table(worlds []*world) string {
	var b strings.Builder
	row := func(name string, c tally) {
		fmt.Fprintf(&b, "%-24s %6d %9d %6d %8d %8s\n", name, c.nights, c.published, c.failed, c.missed,
			c.longest.Round(100*time.Millisecond))
	}

	fmt.Fprintf(&b, "%-24s %6s %9s %6s %8s %8s\n", "", "nights", "published", "failed", "too late",
		"longest")
	var all tally
	whole, broken, refused := 0, 0, 0
	for _, k := range kinds {
		var c tally
		for _, w := range worlds {
			if one := w.tallies[k.name]; one != nil {
				c.nights += one.nights
				c.published += one.published
				c.failed += one.failed
				c.missed += one.missed
				c.longest = max(c.longest, one.longest)
			}
		}
		if c.nights == 0 {
			continue
		}
		row(k.name, c)
		all.nights += c.nights
		all.published += c.published
		all.failed += c.failed
		all.missed += c.missed
		all.longest = max(all.longest, c.longest)
	}

	row("all", all)
	for _, w := range worlds {
		whole += w.reader.whole
		broken += len(w.reader.broken)
		refused += w.refused
	}
	fmt.Fprintf(&b, "%d whole dumps and %d broken ones were read; %d overlapping starts were refused",
		whole, broken, refused)
	return b.String()
}
