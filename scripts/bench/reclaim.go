//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
	"golang.org/x/sys/unix"
)

// A reclaim is a way to lose a claimer and to have its task claimed by another.
type reclaim struct {
	name   string
	strike func() (time.Duration, error)
}

// timeReclaim times how long a task is nobody's: from the SIGKILL of its claimer until the next
// claim is committed.
func (b *bench) timeReclaim() error {
	var all []reclaim
	for name, open := range map[string]func() (func() (time.Duration, error), func(), error){
		"reclaim/dpl": b.followed, "reclaim/dpl-wait": b.waited,
		"reclaim/beanstalkd": b.reserved,
	} {
		strike, stop, err := open()
		if stop != nil {
			defer stop()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if strike != nil {
			all = append(all, reclaim{name, strike})
		}
	}

	for round := -b.plan.warmUp; round < b.plan.waits; round++ {
		for _, i := range b.random.Perm(len(all)) {
			took, err := all[i].strike()
			if err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
			if round >= 0 {
				b.results.add(all[i].name, "s", round, took.Seconds())
			}
		}

		took, err := b.starter.time([]string{b.tools.null})
		if err != nil {
			return err
		}
		if round >= 0 {
			b.results.add("reclaim/null", "s", round, took.Seconds())
		}
	}

	b.printTimes("a task from the death of its claimer until its next claim", "reclaim/null",
		"reclaim/")
	return nil
}

// newTask makes a ledger with a queue q of one task, which may be claimed any number of times, and
// returns its path.
func (b *bench) newTask(name string, command ...string) (ledger string, err error) {
	ledger = filepath.Join(b.work, name)
	_, err = b.prepare(b.command("dpl-queue"), "q", "--create", "--ledger", ledger, "--backoff", "0",
		"--max-attempts", "1000000")
	if err == nil {
		_, err = b.prepare(append([]string{b.command("dpl-enqueue"), "q", "--ledger", ledger, "--"},
			command...)...)
	}
	return ledger, err
}

// followed kills an attempt of dpl-work --follow, which claims the task again.
func (b *bench) followed() (strike func() (time.Duration, error), stop func(), err error) {
	fifo := filepath.Join(b.work, "reclaim-fifo")
	ledger, err := b.newTask("reclaim-run", "/bin/sh", "-c", "echo $$ >"+fifo+"; exec sleep 1000")
	if err = errors.Join(err, syscall.Mkfifo(fifo, 0o600)); err != nil {
		return nil, nil, err
	}

	worker, err := b.starter.start([]string{b.command("dpl-work"), "q", "--follow",
		"--ledger", ledger, "--kill-after", "0.1s"})
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		worker.Signal(syscall.SIGTERM)
		worker.Wait()
	}

	return func() (time.Duration, error) {
		if _, err := os.ReadFile(fifo); err != nil { // the command runs
			return 0, err
		}
		q, err := readQueue(queueFile(ledger))
		if err != nil {
			return 0, err
		}
		return untilClaimed(queueFile(ledger), q.LastEpoch, func() error {
			return syscall.Kill(q.Tasks[0].Claim.PID, syscall.SIGKILL)
		})
	}, stop, nil
}

// waited kills a process that has the task, while dpl-claim --wait waits for it on behalf of
// another.
func (b *bench) waited() (strike func() (time.Duration, error), stop func(), err error) {
	ledger, err := b.newTask("reclaim-wait", "true")
	if err != nil {
		return nil, nil, err
	}
	next, err := b.live(1)
	if err != nil {
		return nil, nil, err
	}

	claim := func(pid int, more ...string) []string {
		return append([]string{b.command("dpl-claim"), "q", "--ledger", ledger, "--pid",
			strconv.Itoa(pid)}, more...)
	}
	return func() (time.Duration, error) {
		holder, err := b.starter.start([]string{"/bin/sleep", "1d"})
		if err != nil {
			return 0, err
		}
		defer holder.Wait()
		defer holder.Kill()
		if _, err := b.starter.time(claim(holder.Pid)); err != nil {
			return 0, err
		}

		waiter, err := b.starter.start(claim(next[0].Pid, "--wait"))
		if err != nil {
			return 0, err
		}
		defer waiter.Kill()
		q, err := readQueue(queueFile(ledger))
		if err = errors.Join(err, untilIdle(waiter.Pid)); err != nil {
			return 0, err
		}

		took, err := untilClaimed(queueFile(ledger), q.LastEpoch, holder.Kill)
		if err != nil {
			return 0, err
		}
		if state, err := waiter.Wait(); err != nil || !state.Success() {
			return 0, fmt.Errorf("dpl-claim: %v, %v: %s", state, err, b.starter.said())
		}
		_, err = b.prepare(b.command("dpl-settle"), "q", "--ledger", ledger, "--task", q.Tasks[0].ID,
			"--epoch", strconv.FormatInt(q.LastEpoch+1, 10), "--release")
		return took, err
	}, nil, nil
}

// reserved kills a client that has the only task, while another waits for it.
func (b *bench) reserved() (strike func() (time.Duration, error), stop func(), err error) {
	if b.tools.beanstalk == "" {
		return nil, nil, nil
	}

	const tube = "reclaim"
	return func() (time.Duration, error) {
		if _, err := b.prepare(b.beanstalk(tube, "put")...); err != nil {
			return 0, err
		}
		holder, err := b.startResting(b.beanstalk(tube, "hold"))
		if err != nil {
			return 0, err
		}
		defer holder.Wait()
		defer holder.Kill()
		waiter, err := b.startResting(b.beanstalk(tube, "take"))
		if err != nil {
			return 0, err
		}
		defer waiter.Kill()

		began := time.Now()
		if err := holder.Kill(); err != nil {
			return 0, err
		}
		state, err := waiter.Wait()
		took := time.Since(began)
		if err == nil && !state.Success() {
			err = fmt.Errorf("beanstalk: %v: %s", state, b.starter.said())
		}
		return took, err
	}, nil, nil
}

// startResting starts a client that has nothing to do before something happens.
func (b *bench) startResting(argv []string) (*os.Process, error) {
	p, err := b.starter.start(argv)
	if err != nil {
		return nil, err
	}
	return p, untilRest(p.Pid, func(int) bool { return true })
}

func readQueue(file string) (queue.Queue, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return queue.Queue{}, err
	}
	return queue.Decode(string(text))
}

// untilClaimed calls kill, and returns how long after that a queue has a claim above epoch.
func untilClaimed(file string, epoch int64, kill func() error) (time.Duration, error) {
	events, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return 0, err
	}
	defer unix.Close(events)
	if _, err := unix.InotifyAddWatch(events, filepath.Dir(file), unix.IN_MOVED_TO); err != nil {
		return 0, err
	}

	began := time.Now()
	if err := kill(); err != nil {
		return 0, err
	}
	for buf := make([]byte, 1<<12); ; {
		ready := []unix.PollFd{{Fd: int32(events), Events: unix.POLLIN}}
		switch n, err := unix.Poll(ready, int(patience.Milliseconds())); {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, errors.New("nobody claims the task")
		}

		if _, err := unix.Read(events, buf); err != nil {
			return 0, err
		}
		took := time.Since(began)
		q, err := readQueue(file)
		if err != nil || q.LastEpoch > epoch {
			return took, err
		}
	}
}
