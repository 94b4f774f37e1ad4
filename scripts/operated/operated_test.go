//go:build linux

package operated

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// needed are the programs that a bare Debian does not have.
var needed = []string{"cron", "crontab", "mount", "python3", "redis-cli", "redis-server"}

func TestMain(m *testing.M) { os.Exit(programs.Run(m, needed...)) }

// inside has the directory of the commands, in the environment of the test in a mount namespace of
// its own.
const inside = "DPL_OPERATED_INSIDE"

// short is for how long the group is disturbed without DPL_SOAK, and reserve the part of that for
// each kind that must not be left out.
const (
	short   = 80 * time.Second
	reserve = 8 * time.Second
)

// soak returns for how long a soak disturbs the group: $DPL_SOAK if that is a duration, else an
// hour. It returns 0 without DPL_SOAK.
func soak() time.Duration {
	given := os.Getenv("DPL_SOAK")
	length, err := time.ParseDuration(given)
	if err != nil && given != "" {
		length = time.Hour
	}
	return length
}

// TestOperated disturbs the group, in a mount namespace where the ledger has a small disk.
func TestOperated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	strict.Root(t)
	for _, program := range needed {
		strict.Program(t, program)
	}
	if bin := os.Getenv(inside); bin != "" {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, bin, rig.Seed(t))
		w.boot()
		w.operate()
		return
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestOperated$", "-test.v", "-test.timeout=3h")
	cmd.Env = append(os.Environ(), inside+"="+build.Commands(t, "../.."))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS,
		Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	switch _, ended := errors.AsType[*exec.ExitError](err); {
	case err != nil && !ended:
		t.Skipf("needs the right to mount file systems in a namespace of its own: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	default:
		t.Logf("%s", out)
	}
}

// operate disturbs the group while looks judge the answers of DPL.
func (w *world) operate() {
	stop := make(chan struct{})
	looks := w.watch(stop)
	w.settle("start", time.Now())

	began := time.Now()
	w.disturb(kinds[0])
	for round := 0; round == 0 || time.Since(began) < soak(); round++ {
		late := 0 // kinds that must not be left out, and have yet to come
		if round == 0 {
			late = len(always)
		}
		for _, i := range w.choose.Perm(len(kinds)) {
			must := late > 0 && slices.Contains(always, kinds[i].name)
			if must {
				late--
			}
			if must || i+round > 0 &&
				time.Since(began) < max(short, soak())-time.Duration(late)*reserve {
				w.disturb(kinds[i])
			}
		}
	}
	w.settle("the last disturbance", time.Now())
	w.alerted()
	w.end()
	close(stop)
	looks.Wait()

	for _, rule := range rules {
		if w.seen.right[rule] == 0 || w.seen.unseen[rule] == 0 && rule != stoppedRule {
			w.fault("no look has compared %s of a service that had died", rule)
		}
	}
	w.t.Logf("\n%s", w.table())
	if w.faults > printed {
		w.t.Errorf("and %d more", w.faults-printed)
	}
}

// always are the kinds that the short form never leaves out.
var always = []string{"service killed", "container boots", "log fills the disk", "maintenance",
	"no passes"}

// disturb makes one disturbance. Two times out of three it waits until the group is as before. Else
// the next one comes earlier.
func (w *world) disturb(k kind) {
	began := time.Now()
	w.mu.Lock()
	w.kind = k.name
	w.mu.Unlock()
	k.do(w)
	if w.choose.IntN(3) > 0 {
		w.settle(k.name, time.Now())
	}
	w.t.Logf("%-28s %6.1fs", k.name, time.Since(began).Seconds())
}

// back is how soon the group must be as before. Services of the container before go stale within
// three thresholds. The backoff is at most a second. Three passes restart services and those that
// depend on them, and check their health. On a busy machine everything takes twice as long.
const back = 2 * (grace + time.Second + 3*pause)

// settle waits until the group is as before, and a look has found it healthy.
func (w *world) settle(after string, since time.Time) {
	var s snapshot
	missing := ""
	if !poll.Within(back, func() bool {
		s = w.now()
		missing = w.missing(s, since)
		return missing == ""
	}) {
		w.fault("%v after %s, the group is not as before: %s; registry: %+v", back, after, missing,
			s.entries)
	}
}

// missing names a service that is not as it was in the beginning, or returns "".
func (w *world) missing(s snapshot, since time.Time) string {
	for _, service := range steady {
		if _, lives := s.alive(service); !lives || s.entries[service].State != "running" {
			return service
		}
	}
	switch {
	case s.entries["migrate"].State != "completed":
		return "migrate"
	case s.entries["web"].Health == nil || !s.entries["web"].Health.Passed:
		return "the health of web"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen.well.Before(since) {
		return "--check healthy"
	}
	return ""
}

// table returns what the looks have compared.
func (w *world) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d looks\n%-16s %8s %10s %11s\n", w.seen.looks, "", "right", "unnoticed",
		"wrong once")
	for _, rule := range rules {
		fmt.Fprintf(&b, "%-16s %8d %10d %11d\n", rule, w.seen.right[rule], w.seen.unseen[rule],
			w.seen.once[rule])
	}
	return b.String()
}
