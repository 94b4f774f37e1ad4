package status

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// keepPage writes the subject to file again whenever one of its files changes, and every refresh
// for the ages. It returns when the operation or queue is over, and leaves a page that no browser
// reads again. A signal ends it as any program, between two pages.
func (s *reporter) keepPage(what subject, file string, refresh time.Duration) error {
	signals := catchSignals()
	defer signals.restore()

	w := &watcher{reporter: s, subject: what}
	defer w.unwatch()

	var warned []string
	for {
		changed := w.arm()
		p, err := s.look(what)
		if err != nil {
			return err
		}

		html := s.pageOf(&p)
		if p.over() == "" {
			html.Refresh = refresh
		}
		if !slices.Equal(html.Warnings, warned) {
			p.warn(s.env)
			warned = html.Warnings
		}
		if err := s.writeFile("--html", file, html.Text(), forOwner); err != nil {
			return err
		}
		if html.Refresh == 0 {
			return cli.Exit(p.status())
		}

		signals.await(changed, refresh)
	}
}

// await returns after a change, but not at once, or when d has passed. Signals end or stop the
// process meanwhile.
func (s *signals) await(changed <-chan struct{}, d time.Duration) {
	const least = time.Second // browsers count seconds
	due := time.NewTimer(d)
	defer due.Stop()

	for {
		select {
		case <-changed:
			changed = nil
			due.Reset(min(d, least))
		case <-due.C:
			return
		case <-s.stopped:
			s.stop()
		case sig := <-s.ended:
			s.die(sig)
		}
	}
}
