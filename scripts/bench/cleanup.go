//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// passFrames is how many calls each operation of a pass has.
const passFrames = 3

// timeCleanup times passes over many operations.
func (b *bench) timeCleanup() error {
	turns := []turn{alone("cleanup/null", []string{b.tools.null})}
	var ledgers []*crowd
	for _, n := range b.plan.operations {
		of, made, err := b.passesOver(n)
		if err != nil {
			return err
		}
		turns, ledgers = append(turns, of...), append(ledgers, made...)
	}

	if err := b.race(turns, b.plan.passRounds); err != nil {
		return err
	}

	for _, c := range ledgers {
		if err := c.check(); err != nil {
			return err
		}
	}

	for _, n := range b.plan.operations {
		title := fmt.Sprintf("dpl-cleanup, a pass over %d operations of %d frames", n, passFrames)
		b.printTimes(title, "cleanup/null", fmt.Sprintf("cleanup/%d/", n))
	}

	return nil
}

// passesOver returns the turns of passes over n operations, with their ledgers: all quiet, all
// quiet and with --pid, and one in a hundred stale.
func (b *bench) passesOver(n int) (turns []turn, ledgers []*crowd, err error) {
	quiet := &crowd{ledger: fmt.Sprint("quiet-", n)}
	pid := &crowd{ledger: fmt.Sprint("quiet-pid-", n), withPID: true}
	stale := &crowd{ledger: fmt.Sprint("stale-", n), stale: make(map[string]string)}
	cleanup := func(who string, c *crowd) turn {
		if err == nil {
			err = b.gather(c, n)
		}
		ledgers = append(ledgers, c)
		argv := []string{b.command("dpl-cleanup"), "--ledger", c.ledger}
		return turn{contestants: []contestant{{name: named("cleanup", n, who), argv: argv,
			ready: c.restore}}}
	}

	turns = []turn{cleanup("dpl", quiet), cleanup("dpl-pid", pid)}
	if n >= 100 {
		turns = append(turns, cleanup("dpl-stale", stale))
	}
	if b.tools.pass != "" {
		turns = append(turns, alone(named("cleanup", n, "c"), []string{b.tools.pass, quiet.ledger}))
	}
	if b.tools.python != "" {
		turns = append(turns, alone(named("cleanup", n, "python"),
			[]string{b.tools.python, "-I", "-S", "-c", pythonPass, quiet.ledger}))
	}

	return turns, ledgers, err
}

const pythonPass = `import glob, json, sys
for file in glob.glob(sys.argv[1] + '/operations/*.json'):
    with open(file) as f:
        for frame in json.load(f)['stack']:
            if frame['lastHeartbeat'] < '2000-01-01T00:00:00.000Z':
                print(file)
`

// A crowd is a ledger of many operations.
type crowd struct {
	ledger  string            // its name, and then its path
	withPID bool              // all calls are
	stale   map[string]string // the files of the stale operations; nil if none should be stale
}

// gather creates the ledger of c, with n operations. If some should be stale, the top call of one
// in a hundred has been silent for longer than the threshold.
func (b *bench) gather(c *crowd, n int) (err error) {
	if c.ledger, err = b.newLedger(c.ledger, "op-0"); err != nil {
		return err
	}

	var processes []observe.Process
	if c.withPID {
		if processes, err = b.identities(passFrames * n); err != nil {
			return err
		}
	}

	for i := range n {
		id, own := fmt.Sprint("op-", i), processes
		if c.withPID {
			own = processes[i*passFrames%(len(processes)-passFrames+1):]
		}

		op, err := b.stack(id, passFrames, own)
		if err != nil {
			return err
		}

		file := operationFile(c.ledger, id)
		if c.stale != nil && i%100 == 0 {
			silence(op.Stack[passFrames-1])
			c.stale[file] = op.Encode()
		}

		if err := errors.Join(os.WriteFile(file, []byte(op.Encode()), 0o600),
			os.WriteFile(file+".lock", nil, 0o600)); err != nil {
			return err
		}
	}

	return nil
}

// silence makes f a call whose last heartbeat is long ago, in a file written without a monotonic
// clock.
func silence(f *protocol.Frame) {
	f.LastHeartbeat = f.LastHeartbeat.Add(-staleness - time.Hour)
	f.Beat = observe.Beat{}
}

// restore makes those operations stale again that a pass has edited.
func (c *crowd) restore() error {
	if len(c.stale) == 0 {
		return nil
	}

	for file, text := range c.stale {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}

	return syncAll(c.ledger)
}

// check fails unless a pass has found the stale operations and edited no quiet one. Otherwise
// something else was timed.
func (c *crowd) check() error {
	op, err := readOperation(operationFile(c.ledger, "op-0"))
	if err != nil {
		return err
	}
	if quiet := op.Revision == passFrames; quiet == (c.stale != nil) {
		return fmt.Errorf("%s: after a pass, an operation is %s, at revision %d", c.ledger,
			op.State, op.Revision)
	}
	return nil
}

// syncAll makes the file system of dir durable, so that the next measurement does not wait for the
// preparations.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
