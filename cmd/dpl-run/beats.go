package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// together is how long what the command says may wait for more, to be one edit.
const together = 100 * time.Millisecond

// retryAfter is how long to wait until what failed in passing is tried again.
const retryAfter = 100 * time.Millisecond

// looksPerBeat is how often it looks between two heartbeats where many take part, and so beat rarely: a look takes half a
// millisecond of a processor to wake up for, and all of them together make 100 a second at most.
const looksPerBeat = 40

// beats sends the heartbeats, one after the other, while the runner does other things. Between two of
// them it looks whether one is needed, which costs less than a heartbeat.
type beats struct {
	part     part
	interval time.Duration // between two looks
	made     chan beat
	heart    time.Time // when the next heartbeat is due, whatever a look says

	last    time.Time       // when the last began
	at      time.Time       // when the next look or heartbeat is due
	asked   bool            // the command has said something since the last began
	pending protocol.Report // what
	waiting []io.Closer     // barriers that wait for the next

	busy  bool            // one is being made
	said  protocol.Report // what it says
	under []io.Closer     // barriers that wait for it

	failing bool // the last has failed
}

// A beat is what came of a heartbeat.
type beat struct {
	status int
	err    error
	idle   bool // none was made: a look found that none was called for
}

func (b *beats) start(p part, interval time.Duration) {
	b.part, b.interval, b.made = p, interval, make(chan beat, 1)
	b.last = time.Now()
	b.at = b.last.Add(cli.Jittered(interval))
	b.heart = b.last.Add(cli.Jittered(p.pace()))
}

// due returns when the next is to begin; zero while one is being made.
func (b *beats) due() time.Time {
	if b.busy {
		return time.Time{}
	}
	return b.at
}

// say lets the next heartbeat say say, too. A change of the readiness does not wait for more.
func (b *beats) say(say protocol.Report) {
	at := b.last.Add(together)
	if say.Readiness != "" {
		at = time.Now()
	}
	b.pending, b.asked = merge(b.pending, say), true
	if at.Before(b.at) {
		b.at = at
	}
}

// merge returns what before says, and say merge it.
func merge(before, say protocol.Report) protocol.Report {
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

// next begins the next look or heartbeat if it is due.
func (b *beats) next(now time.Time, cleaning bool) {
	if b.busy || now.Before(b.at) {
		return
	}
	interval := max(b.interval, b.part.pace()/looksPerBeat)
	b.busy, b.last, b.at = true, now, now.Add(cli.Jittered(interval))
	needed := b.asked || cleaning || !now.Before(b.heart)
	b.said, b.under = b.pending, b.waiting
	b.said.Cleaning = cleaning
	b.pending, b.waiting, b.asked = protocol.Report{}, nil, false
	go func(say protocol.Report) {
		if !needed && !b.part.called() {
			b.made <- beat{idle: true}
			return
		}
		status, err := b.part.beat(say)
		b.made <- beat{status: status, err: err}
	}(b.said)
}

// learn takes in what came of the heartbeat. What one that failed was to say, the next one says.
func (b *beats) learn(made beat) {
	b.busy, b.failing = false, made.err != nil
	if b.failing {
		b.pending, b.asked = merge(b.said, b.pending), true
		b.waiting, b.under = append(b.under, b.waiting...), nil
		return
	}
	if !made.idle {
		b.heart = b.last.Add(cli.Jittered(b.part.pace()))
	}
	release(b.under)
	b.under = nil
}

// begin makes p. While others hold the lock it waits, unless it is told to end.
func begin(env *cli.Env, p part, signals <-chan os.Signal) (variables []string, interval time.Duration, err error) {
	for told := false; ; {
		variables, interval, err = p.begin()
		if !errors.Is(err, fileops.ErrBusy) {
			return variables, interval, err
		}
		if !told {
			env.Warnf("%v: waiting for it", err)
			told = true
		}
		select {
		case sig := <-signals:
			if ends(sig) {
				return nil, 0, err
			}
		case <-time.After(cli.Jittered(retryAfter)):
		}
	}
}

// ends reports whether sig tells this process itself to give up.
func ends(sig os.Signal) bool {
	return sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGHUP
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
