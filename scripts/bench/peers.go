//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// A peer is a program that makes the edits in another way.
type peer struct {
	who  string
	slow bool
	// prepare creates a place for a stack of frames, and returns a function for the command that
	// does a work on it; nil if it cannot.
	prepare func(b *bench, place string, frames int) (func(work string) []string, error)
}

// peers are all, whether they are installed or not.
func (b *bench) peers() (all []peer) {
	t := &b.tools
	if t.limit != "" {
		all = append(all, peer{"c", false, (*bench).limit})
	}
	if t.sqlite != "" {
		all = append(all, peer{"sqlite-journal", false, journalFull},
			peer{"sqlite-wal", false, walFull})
	}
	if t.redisSocket != "" {
		all = append(all, peer{"redis", false, (*bench).redis})
	}
	if t.flock != "" {
		all = append(all, peer{"jq", true, (*bench).jq})
	}
	if t.python != "" {
		all = append(all, peer{"python", true, (*bench).python})
	}

	return all
}

// peerEdits returns the turns of the peers.
func (b *bench) peerEdits(size int) (turns []turn, err error) {
	for _, p := range b.peers() {
		every := 0
		if p.slow {
			every = b.plan.slow
		}

		for _, works := range [][]string{{heartbeat}, {push, pop}} {
			argv, err := p.prepare(b, fmt.Sprintf("%s-%d-%s", p.who, size, works[0]), size)
			if err != nil {
				return nil, err
			}

			t := turn{every: every}
			for _, work := range works {
				t.contestants = append(t.contestants,
					contestant{name: named(work, size, p.who), argv: argv(work)})
			}

			turns = append(turns, t)
		}
	}

	return turns, nil
}

// limit is the same system calls in C.
func (b *bench) limit(place string, frames int) (func(string) []string, error) {
	ledger, err := b.newStack("ledger-"+place, frames, false)
	return func(work string) []string {
		argv := []string{b.tools.limit, ledger, "op.json", "call-1"}
		if work != heartbeat {
			argv = append(argv, "dir")
		}
		return argv
	}, err
}

// copyOf returns the path of an operation file of so many frames, in a directory of its own.
func (b *bench) copyOf(place string, frames int) (string, error) {
	text, err := b.stackText(frames, false)
	if err != nil {
		return "", err
	}

	dir := filepath.Join(b.work, place)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}

	file := filepath.Join(dir, "op.json")
	return file, os.WriteFile(file, text, 0o600)
}

// jq is a shell script that takes care of locks and fsync. It is given the place of the frame.
func (b *bench) jq(place string, frames int) (func(string) []string, error) {
	file, err := b.copyOf(place, frames)
	now := `(now | todate)`
	filters := map[string]string{
		heartbeat: `.stack[1].lastHeartbeat = ` + now,
		push: `.stack += [{participantId: "worker-new", callId: "new", startTime: ` + now +
			`, lastHeartbeat: ` + now + `, state: "active"}]`,
		pop: `del(.stack[-1])`,
	}

	return func(work string) []string {
		script := `jq '.revision += 1 | ` + filters[work] +
			`' "$0" >"$0.new" && sync "$0.new" && mv "$0.new" "$0"`
		if work != heartbeat {
			script += ` && sync "${0%/*}"`
		}
		return []string{b.tools.flock, file + ".lock", "sh", "-c", script, file}
	}, err
}

const pythonScript = `import fcntl, json, os, sys, time
work, file = sys.argv[1:]
with open(file + '.lock', 'w') as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with open(file) as f:
        op = json.load(f)
    op['revision'] += 1
    now = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())
    if work == 'heartbeat':
        op['stack'][1]['lastHeartbeat'] = now
    elif work == 'push':
        op['stack'].append({'participantId': 'worker-new', 'callId': 'new', 'startTime': now, 'lastHeartbeat': now, 'state': 'active'})
    else:
        op['stack'].pop()
    with open(file + '.new', 'w') as f:
        f.write(json.dumps(op))
        f.flush()
        os.fsync(f.fileno())
    os.replace(file + '.new', file)
    if work != 'heartbeat':
        dir = os.open(os.path.dirname(file), os.O_RDONLY)
        os.fsync(dir)
`

// python is a Python program that takes care of the same. It is given the place of the frame.
// Without its site packages it starts in a fraction of the time.
func (b *bench) python(place string, frames int) (func(string) []string, error) {
	file, err := b.copyOf(place, frames)
	return func(work string) []string {
		return []string{b.tools.python, "-I", "-S", "-c", pythonScript, work, file}
	}, err
}
