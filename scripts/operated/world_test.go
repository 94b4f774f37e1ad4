//go:build linux

package operated

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// services are those of the group, in the order in which they are registered.
var services = []string{"redis", "migrate", "web", "worker", "flaky", "noisy"}

// steady are the services that run until something kills them.
var steady = []string{"redis", "web", "worker", "noisy"}

// These are what the group and its passes are given.
const (
	group     = "shop"
	staleness = 5 * time.Second
	pause     = 2 * time.Second // between passes
	behindBy  = time.Hour
)

// A world is a group in a ledger on a small disk, in a container that cron makes passes in.
type world struct {
	t      testing.TB
	dir    string // of the commands and the ledger
	disk   string // the small one
	spool  string // the current directory of everything; never full
	port   string // of web
	choose *rand.Rand

	mu   sync.Mutex // the rest belongs to disturbances and looks
	box  container
	asks map[string]int // how often the restart of a service was requested
	lost int            // passes that were killed, perhaps between a decision and a start

	kind   string // what happens, or happened last
	faults int
	seen   record
}

// A container is a pid namespace with a cron in it.
type container struct {
	outside   *exec.Cmd // unshare
	first     int       // the pid of its first process, outside
	namespace string
	booted    time.Time
}

// newWorld registers the services of a new world. bin has the commands.
func newWorld(t testing.TB, bin string, seed uint64) *world {
	w := &world{t: t, choose: rand.New(rand.NewPCG(seed, 0)), asks: make(map[string]int)}
	w.dir = w.temporary()
	w.spool = w.temporary()
	w.disk = filepath.Join(w.dir, "disk")

	w.must(os.Mkdir(w.disk, 0o700))
	w.must(syscall.Mount("tmpfs", w.disk, "tmpfs", 0, "size=2m,mode=700"))
	t.Cleanup(func() { syscall.Unmount(w.disk, syscall.MNT_DETACH) })
	w.must(exec.Command("cp", "-a", bin, w.bin()).Run())
	w.must(os.Mkdir(w.path("www"), 0o755))
	w.write("on-exit", "none")
	scripts, _ := filepath.Glob("testdata/*.sh")
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		w.must(err)
		w.must(proc.WriteProgram(w.path(filepath.Base(script)), text, 0o755))
	}

	w.port = freePort(t)
	w.register("redis")
	w.register("migrate", "--restart", "transient", "--depends-on", "redis")
	w.register("web", "--depends-on-completed", "migrate", "--health", "bash health.sh "+w.port,
		"--health-every", "1s", "--health-timeout", "1s")
	w.register("worker", "--depends-on", "redis")
	w.register("flaky", "--backoff", "1s")
	w.register("noisy", "--log-max", "64K")
	w.write("crontab", "MAILTO=\"\"\n"+strings.Join(w.variables(), "\n")+
		"\n@reboot cd "+w.spool+" && sh passes.sh\n* * * * * cd "+w.spool+" && sh passes.sh\n")
	t.Cleanup(w.stop)
	return w
}

func (w *world) temporary() string {
	dir, err := os.MkdirTemp("", "operated") // short, because the path of a socket is limited
	w.must(err)
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) bin() string             { return filepath.Join(w.dir, "bin") }
func (w *world) ledger() string          { return filepath.Join(w.disk, "ledger") }
func (w *world) path(name string) string { return filepath.Join(w.spool, name) }
func (w *world) exists(name string) bool { _, err := os.Stat(w.path(name)); return err == nil }
func (w *world) remove(name string)      { w.must(os.RemoveAll(w.path(name))) }

func (w *world) write(name, text string) {
	w.t.Helper()
	w.must(os.WriteFile(w.path(name), []byte(text), 0o600))
}

func (w *world) text(name string) string {
	text, _ := os.ReadFile(w.path(name))
	return string(text)
}

func (w *world) lines(name string) []string {
	return strings.FieldsFunc(w.text(name), func(r rune) bool { return r == '\n' })
}

// printed is how many faults are printed.
const printed = 30

func (w *world) fault(format string, arguments ...any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults++; w.faults <= printed {
		w.t.Errorf("%s: %s: %s", time.Now().Format(time.TimeOnly), w.kind,
			fmt.Sprintf(format, arguments...))
	}
}

// upTo returns a random duration.
func (w *world) upTo(limit time.Duration) time.Duration {
	return time.Duration(w.choose.Int64N(int64(limit)))
}

// variables are what the commands need.
func (w *world) variables() []string {
	return []string{"PATH=" + w.bin() + ":" + os.Getenv("PATH"), "DPL_LEDGER=" + w.ledger(),
		"LC_ALL=C"}
}

// register registers a service, outside of the container, and makes no pass.
func (w *world) register(service string, flags ...string) {
	w.t.Helper()
	args := append([]string{"--group", group, "--service", service, "--request", "--no-pass",
		"--max-attempts=-1"}, flags...)
	cmd := exec.Command(filepath.Join(w.bin(), "dpl-register"), append(args, "--", "sh", "service.sh",
		w.port)...)
	cmd.Dir, cmd.Env = w.spool, append(w.variables(), "HOME="+w.spool)
	if service != "flaky" {
		cmd.Args = append(cmd.Args[:1], append([]string{"--backoff=0,1s"}, cmd.Args[1:]...)...)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// boot starts the container, with the ledger that is there.
func (w *world) boot() {
	w.t.Helper()
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "--pid", "--fork",
		"--mount-proc", "--kill-child", "sh", "container.sh", "crontab")
	cmd.Dir, cmd.Env = w.spool, w.variables()
	log, err := os.OpenFile(w.path("booted"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.must(err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.must(cmd.Start())

	c := container{outside: cmd, booted: time.Now()}
	if !poll.Within(poll.Patience, func() bool {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		c.first, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", c.first))
		return string(name) == "cron\n"
	}) {
		w.t.Fatalf("the container does not boot: %s", w.text("booted"))
	}
	c.namespace, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", c.first))
	w.must(err)
	w.mu.Lock()
	w.box = c
	w.mu.Unlock()
}

// stop kills the container, with everything in it.
func (w *world) stop() {
	w.mu.Lock()
	c := w.box
	w.box = container{}
	w.mu.Unlock()
	if c.outside != nil {
		syscall.Kill(c.first, syscall.SIGKILL)
		c.outside.Wait()
	}
}

func (w *world) current() container {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.box
}

// within returns a command that runs in the container.
func (w *world) within(c container, name string, args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{"--target", strconv.Itoa(c.first), "--pid",
		"--mount", "--wd=" + w.spool, "--", name}, args...)...)
	cmd.Dir, cmd.Env = w.spool, append(w.variables(), "HOME="+w.spool, "DPL_GROUP="+group)
	return cmd
}

// do runs a command in the container, which must succeed. While another command has the lock, or a
// service that it needs is down, it is repeated.
func (w *world) do(name string, args ...string) {
	w.t.Helper()
	var out []byte
	var err error
	if !poll.Within(poll.Patience, func() bool {
		out, err = w.within(w.current(), name, args...).CombinedOutput()
		exit, ended := errors.AsType[*exec.ExitError](err)
		return err == nil || !ended || exit.ExitCode() != 75 && exit.ExitCode() != 76
	}) || err != nil {
		w.fault("%s %q: %v: %s", name, args, err, out)
	}
}
