//go:build linux

package pipes

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

const (
	// bounded is how long a trial may take after its fault. A dpl-run holds a pipe for at most a
	// minute.
	bounded = 75 * time.Second
	// goneWithin is how long a process may take to end after the script has ended. The keepers of
	// killed processes hold as dpl-run does.
	goneWithin = 75 * time.Second
)

// A trial is one run of a pipeline, and the run after it.
type trial struct {
	plan
	bin   string
	dir   string
	begin func() // lets the first stage begin to write

	known    []process // keepers, and the processes of the stages
	hit      []victim  // that were alive when they were killed
	started  bool      // an early kill came when the command had started
	alone    []string  // the stages whose dpl-run was killed when it had no keeper
	done     []string  // the stages whose dpl-run was killed when it had no command
	struck   time.Time // when the first of them was killed
	status   int       // of the script
	took     time.Duration
	out      string // what became of the file: see published
	record   record
	unfound  bool // only dpl-cleanup has found a crash
	said     string
	problems []string
}

// What became of the file.
const (
	absent    = "absent"
	whole     = "whole"
	truncated = "truncated"
)

func (t *trial) problem(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

func (t *trial) bad() bool { return len(t.problems) > 0 }

// try makes a trial in a directory.
func try(p plan, bin, dir string) *trial {
	t := &trial{plan: p, bin: bin, dir: dir, status: -1}
	if err := t.run(); err != nil {
		t.problem("%v", err)
	}
	return t
}

func (t *trial) run() error {
	defer proc.EndAll(t.dir)
	if err := t.write(true); err != nil {
		return err
	}
	fifo, err := t.fifo()
	if err != nil {
		return err
	}
	defer fifo.Close()
	if t.begin = sync.OnceFunc(func() { fifo.WriteString("\n") }); !t.waits {
		t.begin()
	}

	script := t.start()
	if err := script.cmd.Start(); err != nil {
		return err
	}
	go script.wait()

	if err := t.strike(script); err != nil {
		return errors.Join(err, script.kill())
	}
	if err := t.await(script); err != nil {
		return err
	}

	t.look()
	t.judge()
	return t.again()
}

// fifo returns the FIFO for which the first stage waits.
func (t *trial) fifo() (*os.File, error) {
	path := filepath.Join(t.dir, "go")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// write writes the scripts.
func (t *trial) write(fault bool) error {
	for name, text := range t.scripts(fault) {
		if err := os.WriteFile(filepath.Join(t.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// A script is a run of the script.
type script struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func (s *script) wait() {
	s.cmd.Wait()
	close(s.ended)
}

func (s *script) kill() error {
	err := s.cmd.Process.Kill()
	<-s.ended
	return err
}

// start returns the script, ready to be started. Its output goes to files, so that its end does not
// depend on that of other processes.
func (t *trial) start() *script {
	argv := t.argv()
	s := &script{cmd: t.command(argv[0], argv[1:]...), ended: make(chan struct{})}
	if !t.outer {
		s.cmd.Env = append(s.cmd.Env, "DPL_OP=n")
	}

	if said, err := os.OpenFile(filepath.Join(t.dir, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600); err == nil {
		s.cmd.Stdout, s.cmd.Stderr = said, said
	}
	return s
}

// command returns a command of the trial.
func (t *trial) command(name string, args ...string) *exec.Cmd {
	path := name
	if strings.HasPrefix(name, "dpl-") {
		path = filepath.Join(t.bin, name)
	}

	cmd := exec.Command(path, args...)
	cmd.Args[0] = name
	cmd.Dir = t.dir
	cmd.Env = []string{"PATH=" + t.bin + ":" + os.Getenv("PATH"), "HOME=" + t.dir,
		"DPL_LEDGER=" + filepath.Join(t.dir, "ledger")}
	return cmd
}

// strike makes the fault of the plan. The scripts already have that of a command that exits 1.
func (t *trial) strike(s *script) error {
	t.struck = time.Now()
	if t.fault == early {
		return t.strikeEarly(s)
	}

	var r record
	var err error
	over := false
	if !poll.Within(poll.Patience, func() bool {
		select {
		case <-s.ended:
			over = true
		default:
		}
		if r, err = read(t.dir); err != nil {
			return true
		}
		return over || r.allBegun(t.calls()) || t.fault == exits && r.State != "" && r.ended()
	}) {
		return errors.New("the calls do not begin")
	}
	if err != nil || over {
		return err
	}

	targets := t.targets(r)
	t.begin()
	if len(t.victims) == 0 {
		return nil
	}
	if t.written {
		first := targets[victim{"first", command}]
		poll.Within(poll.Patience, func() bool { return !first.alive() })
	}

	<-time.After(t.after)
	for i, v := range t.victims {
		if v.role == runner && !targets[victim{v.stage, keeper}].alive() {
			t.alone = append(t.alone, v.stage)
		}
		if v.role == runner && !targets[victim{v.stage, command}].alive() {
			t.done = append(t.done, v.stage)
		}
		if !slices.Contains(t.hit, v) && targets[v].kill() {
			if len(t.hit) == 0 {
				t.struck = time.Now()
			}
			t.hit = append(t.hit, v)
		}
		<-time.After(t.apart[i])
	}
	return nil
}

// targets returns the processes of the calls in r, and remembers them. It waits for the victims,
// which may be about to start.
func (t *trial) targets(r record) (all map[victim]process) {
	missing := func(v victim) bool { return all[v].pid == 0 }
	poll.Within(time.Second, func() bool {
		all = make(map[victim]process)
		for _, f := range r.Stack {
			name := f.CallID
			if !slices.Contains(stages, name) {
				name = outermost
			}
			for role, p := range ofStage(f.PID) {
				all[victim{name, role}] = p
			}
		}
		return !slices.ContainsFunc(t.victims, missing) &&
			!(t.written && missing(victim{"first", command}))
	})

	t.known = slices.AppendSeq(t.known, maps.Values(all))
	return all
}

// strikeEarly kills a dpl-run soon after it has started.
func (t *trial) strikeEarly(s *script) error {
	v := t.victims[0]
	var p process
	poll.Within(poll.Patience, func() bool {
		select {
		case <-s.ended:
			return true
		default:
		}
		pid := runnerOf(v.stage, s.cmd.Process.Pid)
		ok := false
		if pid != 0 {
			p, ok = found(pid)
		}
		return ok
	})
	if p.pid == 0 {
		return errors.New("there is no dpl-run of the stage")
	}

	<-time.After(t.after)
	t.known = append(t.known, keepers(s.cmd.Process.Pid)...)
	_, t.started = ofStage(p.pid)[command]
	if t.struck = time.Now(); p.kill() {
		t.hit = append(t.hit, v)
	}
	t.begin()
	return nil
}

// await waits for the end of the script and of all processes.
func (t *trial) await(s *script) error {
	select {
	case <-s.ended:
		t.status = s.cmd.ProcessState.ExitCode()
	case <-time.After(bounded):
		t.problem("hangs: %v after the fault, there are %v", bounded, t.left())
		proc.EndAll(t.dir)
		<-s.ended
	}

	if !poll.Within(goneWithin, func() bool { return !slices.ContainsFunc(t.known, process.alive) }) ||
		!poll.Within(goneWithin, func() bool { return len(t.left()) == 0 }) {
		t.problem("left behind: %v", t.left())
	}
	t.took = time.Since(t.struck)
	return nil
}

// left describes the processes of the trial.
func (t *trial) left() (all []string) {
	describe := func(pid int) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		text := strings.TrimSpace(strings.ReplaceAll(string(cmdline), "\x00", " "))
		if _, alive := proc.StartTicks(pid); alive {
			all = append(all, fmt.Sprintf("%d (%.60s)", pid, text))
		}
	}

	for pid := range proc.Below(t.dir) {
		describe(pid)
	}
	for _, p := range t.known {
		if p.alive() && isKeeper(p.pid) {
			describe(p.pid)
		}
	}
	return all
}

// look looks at the file and the record. If no process is left to end the operation, dpl-cleanup
// does.
func (t *trial) look() {
	t.out = t.published()
	if text, err := os.ReadFile(filepath.Join(t.dir, "said")); err == nil {
		t.said = string(text)
	}

	for range 4 {
		var err error
		if t.record, err = read(t.dir); err != nil {
			t.problem("%v", err)
		}
		if t.record.State == "" || t.record.ended() {
			return
		}
		t.unfound = t.unfound || t.record.State == "running"
		t.command("dpl-cleanup").Run()
	}
}

// published returns what became of the file.
func (t *trial) published() string {
	path := filepath.Join(t.dir, "out")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return absent
	}
	if err != nil {
		t.problem("%v", err)
	}
	if string(text) == t.text() {
		return whole
	}
	return truncated
}

// again runs the script once more, without a fault.
func (t *trial) again() error {
	os.Remove(filepath.Join(t.dir, "out"))
	os.Remove(filepath.Join(t.dir, "said"))
	if err := t.write(false); err != nil {
		return err
	}

	s := t.start()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go s.wait()
	if err := os.WriteFile(filepath.Join(t.dir, "go"), []byte("\n"), 0); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(bounded):
		return errors.Join(errors.New("the next run hangs"), s.kill())
	}

	r, err := read(t.dir)
	said, _ := os.ReadFile(filepath.Join(t.dir, "said"))
	if out := t.published(); s.cmd.ProcessState.ExitCode() != 0 || out != whole ||
		r.State != "completed" {
		t.problem("the next run: exit %d, out is %s, the operation %s: %s",
			s.cmd.ProcessState.ExitCode(), out, r.State, said)
	}
	return err
}
