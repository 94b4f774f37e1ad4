//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A section is a part of the benchmark that can be run alone.
type section struct {
	name string
	run  func(b *bench) error
}

var sections = []section{
	{"edits", (*bench).timeEdits},
	{"writers", (*bench).timeWriters},
	{"cleanup", (*bench).timeCleanup},
	{"orchestrate", (*bench).timeOrchestrate},
	{"restart", (*bench).timeRestart},
	{"wait", (*bench).timeWait},
	{"run", (*bench).timeRun},
	{"queues", (*bench).timeQueues},
	{"remembered", (*bench).timeRemembered},
	{"drain", (*bench).timeDrain},
	{"reclaim", (*bench).timeReclaim},
	{"ask", (*bench).timeAsk},
	{"audit", (*bench).timeAudit},
}

func sectionNames() string {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// A bench is what the sections share.
type bench struct {
	ctx    context.Context
	out    io.Writer
	bin    string // directory of the commands
	work   string // directory of all files, which goes at the end
	plan   plan
	random *rand.Rand

	starter   *starter
	tools     tools
	processes []*os.Process // that do nothing but live
	host      *observe.Host // nil: not known yet
	texts     map[string][]byte

	results results
	leftOut []string
	machine []fact
	judged  []judged
	plotted []plotted
}

// newBench makes the work directory, and finds or builds the peers.
func newBench(ctx context.Context, o options, out io.Writer) (b *bench, err error) {
	b = &bench{ctx: ctx, out: out, plan: o.plan,
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	b.texts = make(map[string][]byte)
	b.results.byName = make(map[string]*series)
	if b.work, err = os.MkdirTemp(o.dir, "dpl-bench-"); err != nil {
		return nil, err
	}
	if b.work, err = filepath.Abs(b.work); err == nil {
		b.starter, err = newStarter(b.work)
	}
	if err == nil {
		err = b.installCommands(o.bin)
	}
	if err == nil {
		err = b.findTools()
	}
	if err == nil {
		b.machine, err = b.look()
	}

	if err != nil {
		b.close()
		return nil, err
	}

	return b, nil
}

// close ends what was started and removes what was made.
func (b *bench) close() {
	for _, p := range append(b.processes, b.tools.redisServer, b.tools.beanstalkServer) {
		if p != nil {
			p.Kill()
			p.Wait()
		}
	}
	os.RemoveAll(b.work)
}

// leaveOut notes that something is not measured, and why.
func (b *bench) leaveOut(what, why string) {
	b.leftOut = append(b.leftOut, what+": "+why)
}

// command returns the path of one of our commands.
func (b *bench) command(name string) string { return filepath.Join(b.bin, name) }

// prepare runs a command that is not timed, and returns what it prints.
func (b *bench) prepare(argv ...string) (string, error) {
	cmd := exec.CommandContext(b.ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = b.starter.env, b.work
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w: %s", cmd, err, strings.TrimSpace(errors.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// live returns n processes that live as long as the benchmark, or the maximum of the plan if that
// is fewer. Each participant has a process of its own, so that no command can skip looking at one.
func (b *bench) live(n int) ([]*os.Process, error) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return nil, err
	}

	n = min(n, b.plan.processes)
	for len(b.processes) < n {
		p, err := b.starter.start([]string{sleep, "1d"})
		if err != nil {
			return nil, err
		}
		b.processes = append(b.processes, p)
	}

	return b.processes[:n], nil
}
