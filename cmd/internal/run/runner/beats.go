package runner

import (
	"cmp"
	"io"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/observe"
)

// coalesce is how long a report of the command waits for more, so that they share an edit.
const coalesce = 100 * time.Millisecond

// looksPerBeat is the number of looks between two heartbeats if there are many participants, whose
// heartbeats are rare. Waking up for a look takes half a millisecond of a processor; all
// participants together look at most 100 times a second.
const looksPerBeat = 40

// A Heart sends the heartbeats of a call or service.
type Heart interface {
	// Beat sends a heartbeat and returns its status (spec §6).
	Beat(say observe.Report) (status int, err error)
	// Pace returns the time between two heartbeats, according to the last edit.
	Pace() time.Duration
	// Called reports whether a heartbeat is needed before that, because it may bring news.
	Called() bool
}

// beats sends heartbeats one at a time while the runner does other things. Between heartbeats it
// looks whether one is needed, which is cheaper than sending it.
type beats struct {
	heart    Heart
	interval time.Duration // between two looks
	made     chan beat
	full     time.Time // when the next heartbeat is due, whatever a look finds

	last    time.Time      // the start of the last look or heartbeat
	at      time.Time      // when the next look or heartbeat is due
	asked   bool           // the command has reported something since last
	pending observe.Report // that report
	waiting []io.Closer    // barriers that wait for the next heartbeat

	busy  bool           // a look or heartbeat is in progress
	said  observe.Report // the report in it
	under []io.Closer    // barriers that wait for it

	failing bool // the last one failed
}

// A beat is the result of a look or heartbeat.
type beat struct {
	status int
	err    error
	idle   bool // the look found that no heartbeat was needed
}

func (b *beats) start(h Heart, interval time.Duration) {
	b.heart, b.interval, b.made = h, interval, make(chan beat, 1)
	b.last = time.Now()
	b.at = b.last.Add(cli.Jittered(interval))
	b.full = b.last.Add(cli.Jittered(h.Pace()))
}

// due returns when the next look or heartbeat is due; zero while one is in progress.
func (b *beats) due() time.Time {
	if b.busy {
		return time.Time{}
	}
	return b.at
}

// hurry makes the next heartbeat due.
func (b *beats) hurry() { b.at, b.asked = time.Now(), true }

// say adds say to the report of the next heartbeat. A change of readiness does not wait for more.
func (b *beats) say(say observe.Report) {
	at := b.last.Add(coalesce)
	if say.Readiness != "" {
		at = time.Now()
	}
	b.pending, b.asked = merge(b.pending, say), true
	if at.Before(b.at) {
		b.at = at
	}
}

// merge returns before updated by say.
func merge(before, say observe.Report) observe.Report {
	before.Readiness = cmp.Or(say.Readiness, before.Readiness)
	before.Note = cmp.Or(say.Note, before.Note)
	return before
}

// barrier closes c once everything said so far is in the ledger.
func (b *beats) barrier(c io.Closer) {
	switch {
	case b.asked:
		b.waiting = append(b.waiting, c)
		b.at = time.Now()
	case b.busy:
		b.under = append(b.under, c)
	default:
		c.Close()
	}
}

// next starts the next look or heartbeat if it is due.
func (b *beats) next(now time.Time, cleaning bool) {
	if b.busy || now.Before(b.at) {
		return
	}

	interval := max(b.interval, b.heart.Pace()/looksPerBeat)
	b.busy, b.last, b.at = true, now, now.Add(cli.Jittered(interval))
	needed := b.asked || cleaning || !now.Before(b.full)
	b.said, b.under = b.pending, b.waiting
	b.said.Cleaning = cleaning
	b.pending, b.waiting, b.asked = observe.Report{}, nil, false
	go func(say observe.Report) {
		if !needed && !b.heart.Called() {
			b.made <- beat{idle: true}
			return
		}
		status, err := b.heart.Beat(say)
		b.made <- beat{status: status, err: err}
	}(b.said)
}

// learn handles the result of a look or heartbeat. The report of a failed one goes into the next.
func (b *beats) learn(made beat) {
	b.busy, b.failing = false, made.err != nil
	if b.failing {
		b.pending, b.asked = merge(b.said, b.pending), true
		b.waiting, b.under = append(b.under, b.waiting...), nil
		return
	}

	if !made.idle {
		b.full = b.last.Add(cli.Jittered(b.heart.Pace()))
	}

	release(b.under)
	b.under = nil
}

// finish waits for the heartbeat in progress, and sends a last one if the command has reported
// something since.
func (b *beats) finish() {
	if b.busy {
		b.learn(<-b.made)
	}

	if b.asked {
		b.next(b.at, false)
		<-b.made
	}

	release(b.under)
	release(b.waiting)
}

func release(barriers []io.Closer) {
	for _, c := range barriers {
		c.Close()
	}
}
