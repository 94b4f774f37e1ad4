//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// passFrames is how many calls each operation of a pass has.
const passFrames = 3

// timeCleanup times passes over many operations.
func (b *bench) timeCleanup() error {
	turns := []turn{alone("cleanup/null", []string{b.tools.null})}
	for _, n := range b.plan.operations {
		of, err := b.passesOver(n)
		if err != nil {
			return err
		}
		turns = append(turns, of...)
	}
	if err := b.race(turns, b.plan.passRounds); err != nil {
		return err
	}
	for _, n := range b.plan.operations {
		b.printTimes(fmt.Sprintf("dpl-cleanup, a pass over %d operations of %d frames", n, passFrames), "cleanup/null", fmt.Sprintf("cleanup/%d/", n))
	}
	return nil
}

// passesOver returns the turns of passes over n operations: all quiet, all quiet and with --pid, and one in a hundred stale.
func (b *bench) passesOver(n int) ([]turn, error) {
	quiet, _, err := b.newOperations(fmt.Sprint("quiet-", n), n, false, false)
	if err != nil {
		return nil, err
	}
	pid, _, err := b.newOperations(fmt.Sprint("quiet-pid-", n), n, true, false)
	if err != nil {
		return nil, err
	}
	cleanup := func(ledger string) []string { return []string{b.command("dpl-cleanup"), "--ledger", ledger} }
	turns := []turn{
		alone(named("cleanup", n, "dpl"), cleanup(quiet)),
		alone(named("cleanup", n, "dpl-pid"), cleanup(pid)),
	}
	if n >= 100 {
		stale, files, err := b.newOperations(fmt.Sprint("stale-", n), n, false, true)
		if err != nil {
			return nil, err
		}
		c := contestant{name: named("cleanup", n, "dpl-stale"), argv: cleanup(stale), ready: func() error { return restore(files) }}
		turns = append(turns, turn{contestants: []contestant{c}})
	}
	if b.tools.pass != "" {
		turns = append(turns, alone(named("cleanup", n, "c"), []string{b.tools.pass, quiet}))
	}
	if b.tools.python != "" {
		turns = append(turns, alone(named("cleanup", n, "python"), []string{b.tools.python, "-c", pythonPass, quiet}))
	}
	return turns, nil
}

const pythonPass = `import glob, json, sys
for file in glob.glob(sys.argv[1] + '/operations/*.json'):
    with open(file) as f:
        for frame in json.load(f)['stack']:
            if frame['lastHeartbeat'] < '2000-01-01T00:00:00.000Z':
                print(file)
`

// newOperations makes a ledger with n operations. If some are to be stale, the top call of one in a hundred has been silent
// for longer than the threshold, and knows the wall clock only; files are their contents, to be restored.
func (b *bench) newOperations(name string, n int, withPID, someStale bool) (ledger string, files map[string]string, err error) {
	if ledger, err = b.newLedger(name, "op-0"); err != nil {
		return "", nil, err
	}
	var processes []protocol.Process
	if withPID {
		if processes, err = b.identities(passFrames * n); err != nil {
			return "", nil, err
		}
	}
	files = make(map[string]string)
	for i := range n {
		id := fmt.Sprint("op-", i)
		own := processes
		if withPID {
			own = processes[i*passFrames%(len(processes)-passFrames+1):]
		}
		op, err := b.stack(id, passFrames, own)
		if err != nil {
			return "", nil, err
		}
		file := operationFile(ledger, id)
		if someStale && i%100 == 0 {
			silence(op.Stack[passFrames-1])
			files[file] = op.Encode()
		}
		if err := os.WriteFile(file, []byte(op.Encode()), 0o600); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
			return "", nil, err
		}
	}
	return ledger, files, syncAll(filepath.Join(ledger, "operations"))
}

// silence makes f a call that was heard of long ago, by somebody who wrote the file without a monotonic clock.
func silence(f *protocol.Frame) {
	f.LastHeartbeat = f.LastHeartbeat.Add(-staleness - time.Hour)
	f.Beat = protocol.Beat{}
}

// restore makes operations stale again that a pass has edited.
func restore(files map[string]string) error {
	dir := ""
	for file, text := range files {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		dir = filepath.Dir(file)
	}
	return syncAll(dir)
}

// syncAll makes the file system of dir durable, so that what is timed next does not wait for what was prepared.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
