package main

import (
	"io"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

// together is how long what the command says may wait for more, to be one edit.
const together = 100 * time.Millisecond

// beats makes the heartbeats, one after the other, beside what else is to be done.
type beats struct {
	part     part
	interval time.Duration
	made     chan beat

	last    time.Time       // when the last began
	at      time.Time       // when the next is due
	asked   bool            // the command has said something since the last began
	pending protocol.Saying // what
	waiting []io.Closer     // barriers that wait for the next

	busy  bool            // one is being made
	said  protocol.Saying // what it says
	under []io.Closer     // barriers that wait for it

	failing bool // the last has failed
}

// A beat is what came of a heartbeat.
type beat struct {
	status int
	err    error
}

func (b *beats) start(p part, interval time.Duration) {
	b.part, b.interval, b.made = p, interval, make(chan beat, 1)
	b.last = time.Now()
	b.at = b.last.Add(cli.Jittered(interval))
}

// due returns when the next is to begin; zero while one is being made.
func (b *beats) due() time.Time {
	if b.busy {
		return time.Time{}
	}
	return b.at
}

// say lets the next heartbeat say say, too. A change of the readiness does not wait for more.
func (b *beats) say(say protocol.Saying) {
	at := b.last.Add(together)
	if say.Readiness != "" {
		at = time.Now()
	}
	b.pending, b.asked = over(b.pending, say), true
	if at.Before(b.at) {
		b.at = at
	}
}

// over returns what before says, and say over it.
func over(before, say protocol.Saying) protocol.Saying {
	if say.Readiness != "" {
		before.Readiness = say.Readiness
	}
	if say.Note != nil {
		before.Note = say.Note
	}
	return before
}

// barrier closes c when all that was said before is in the ledger.
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

// next begins the next heartbeat if it is due.
func (b *beats) next(now time.Time, cleaning bool) {
	if b.busy || now.Before(b.at) {
		return
	}
	b.busy, b.last, b.at = true, now, now.Add(cli.Jittered(b.interval))
	b.said, b.under = b.pending, b.waiting
	b.said.Cleaning = cleaning
	b.pending, b.waiting, b.asked = protocol.Saying{}, nil, false
	go func(say protocol.Saying) {
		status, err := b.part.beat(say)
		b.made <- beat{status, err}
	}(b.said)
}

// learn takes in what came of the heartbeat. What one that failed was to say, the next one says.
func (b *beats) learn(made beat) {
	b.busy, b.failing = false, made.err != nil
	if b.failing {
		b.pending, b.asked = over(b.said, b.pending), true
		b.waiting, b.under = append(b.under, b.waiting...), nil
		return
	}
	release(b.under)
	b.under = nil
}

// finish waits for the heartbeat that is being made, and makes a last one if the command has said something since.
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
