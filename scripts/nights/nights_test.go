//go:build linux

package nights

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/rig"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// inside has the directory of the commands, in the environment of the test in a mount namespace of
// its own.
const inside = "DPL_NIGHTS_INSIDE"

// TestNights runs the job for many nights. Root runs it in a mount namespace, where disks can be
// full and a real cron has no other crontab; others leave that out.
func TestNights(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}

	t.Parallel()
	postgresql(t)
	if bin := os.Getenv(inside); bin != "" {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		nights(t, place{bin: bin, disks: true, seed: rig.Seed(t)})
		return
	}

	bin := build.Commands(t, "../..")
	// Side by side, also with few processors: each world plays for as long.
	cmd := exec.Command(os.Args[0], "-test.run=^TestNights$", "-test.v", "-test.parallel=8")
	cmd.Env = append(os.Environ(), inside+"="+bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	switch _, ended := errors.AsType[*exec.ExitError](err); {
	case err != nil && !ended:
		t.Run("here", func(t *testing.T) { nights(t, place{bin: bin, seed: rig.Seed(t)}) })
		if why := fmt.Sprintf("full disks and a real cron need root: %v", err); os.Geteuid() != 0 {
			strict.Skip(t, why)
		} else {
			t.Skip(why)
		}
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	default:
		t.Logf("%s", out)
	}
}

// nights has worlds with different scripts, side by side.
func nights(t *testing.T, p place) {
	scripts := []string{"stages.sh", "to.sh", "last.sh"}

	var worlds []*world
	t.Run("side by side", func(t *testing.T) {
		if p.disks {
			w := p.newWorld(t, 0, "stages.sh")
			worlds = append(worlds, w)
			w.startCron(t)
			t.Run("cron", func(t *testing.T) {
				t.Parallel()
				w.underCron()
				w.tell(t)
			})
		}

		for i, script := range scripts {
			w := p.newWorld(t, uint64(i+1), script)
			worlds = append(worlds, w)
			t.Run(script, func(t *testing.T) {
				t.Parallel()
				w.many(p.disks)
				w.tell(t)
			})
		}
	})
	t.Logf("\n%s", table(worlds))
}

// length is for how long a soak plays nights.
const length = time.Hour

// many plays each kind of night once, in any order, and with DPL_SOAK again and again, until the
// time is over. The last night is undisturbed.
func (w *world) many(disks bool) {
	began := time.Now()
	more := func() bool { return rig.Soak() && time.Since(began) < length }
	for round := 0; round == 0 || more(); round++ {
		for _, i := range w.choose.Perm(len(kinds)) {
			if round > 0 && !more() {
				break
			}
			if kinds[i].disks && !disks || kinds[i].call == "upload" && w.script == "last.sh" {
				continue
			}
			w.night(kinds[i])
		}
	}
	w.night(undisturbed)
	w.end()
}

// tell fails the test for each fault.
func (w *world) tell(t testing.TB) {
	t.Helper()
	for i, fault := range w.faults {
		if i == 30 {
			t.Errorf("and %d more", len(w.faults)-i)
			break
		}
		t.Error(fault)
	}
}
