//go:build linux

package operated

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// A kind is a disturbance of the group. When do returns, the group must come back.
type kind struct {
	name string
	do   func(w *world)
}

// The first one makes the hook fail, because its next try comes a minute later.
var kinds = []kind{
	{"hook fails", hookFails},
	{"service killed", serviceKilled},
	{"keepers make passes", prompted},
	{"keeper killed", keeperKilled},
	{"service and keeper killed", bothKilled},
	{"pass killed", passKilled},
	{"no passes", noPasses},
	{"service stopped by SIGSTOP", serviceStopped},
	{"web hangs", webHangs},
	{"container boots", containerBoots},
	{"machine boots", machineBoots},
	{"clock behind at boot", clockBehind},
	{"log fills the disk", diskFull},
	{"commands replaced", upgrade},
	{"maintenance", maintenance},
	{"restart requested", restart},
	{"shutdown requested", shutdown},
}

// steadyOne returns one of the steady services at random.
func (w *world) steadyOne() string { return steady[w.choose.IntN(len(steady))] }

// now returns a snapshot, once a container is up.
func (w *world) now() (s snapshot) {
	w.t.Helper()
	if !poll.Within(poll.Patience, func() bool {
		var ok bool
		s, ok = w.snapshot()
		return ok
	}) {
		w.t.Fatal("no container is up")
	}
	return s
}

// start returns the start of a service that lives, once it has one.
func (w *world) start(service string) (s snapshot, p process) {
	w.t.Helper()
	if !poll.Within(poll.Patience, func() (lives bool) {
		s = w.now()
		p, lives = s.alive(service)
		return lives && !s.of(service).beginning
	}) {
		w.fault("%s does not run: %+v", service, s.entries[service])
	}
	return s, p
}

// kill kills the process of a service, waits until it has ended, and returns its start.
func (w *world) kill(service string) (start string) {
	w.t.Helper()
	s, p := w.start(service)
	start = s.entries[service].StartID
	s.box.signal(p.pid, syscall.SIGKILL)
	if !poll.Within(poll.Patience, func() bool {
		s := w.now()
		_, lives := s.alive(service)
		return !lives || s.entries[service].StartID != start
	}) {
		w.fault("%s cannot be killed", service)
	}
	return start
}

// killAtAnyTime kills a service after a random time.
func (w *world) killAtAnyTime(service string) {
	time.Sleep(w.upTo(pause))
	w.kill(service)
}

func serviceKilled(w *world) {
	for range 1 + w.choose.IntN(3) {
		w.killAtAnyTime(w.steadyOne())
	}
}

// prompted kills services that were started while a pass follows each end at once. The keepers of
// those that are still there from before do not know that.
func prompted(w *world) {
	w.write("on-exit", "pass")
	for range 3 {
		w.killAtAnyTime(w.steadyOne())
		w.settle("a death with --on-exit pass", time.Now())
	}
	w.write("on-exit", "none")
}

// calm waits until an earlier disturbance is over, where a kind expects a service that lives on, or
// a keeper that sees its end.
func (w *world) calm() { w.settle("an earlier disturbance", time.Now()) }

// killKeeper kills the keeper of a service, and returns the start, which lives on.
func (w *world) killKeeper(service string) (start string) {
	s, p := w.start(service)
	if of, _ := s.processes[p.parent].of(); of == service {
		s.box.signal(p.parent, syscall.SIGKILL)
	}
	return s.entries[service].StartID
}

// keeperKilled leaves a service without a keeper, which changes nothing before it ends.
func keeperKilled(w *world) {
	w.calm()
	service := w.steadyOne()
	start := w.killKeeper(service)
	time.Sleep(3 * pause / 2)
	if s := w.now(); s.entries[service].StartID != start {
		w.fault("%s was restarted when its keeper was killed", service)
	}
	w.kill(service)
}

func bothKilled(w *world) {
	time.Sleep(w.upTo(pause))
	service := w.steadyOne()
	w.killKeeper(service)
	w.kill(service)
}

// passKilled kills passes that restart a service.
func passKilled(w *world) {
	for range 1 + w.choose.IntN(3) {
		w.kill(w.steadyOne())
		poll.Within(3*pause, func() bool {
			box := w.current()
			for pid, p := range box.processes() {
				if len(p.words) > 1 && p.words[0] == "dpl-orchestrate" && p.words[1] == "--group" {
					time.Sleep(w.upTo(40 * time.Millisecond))
					if box.signal(pid, syscall.SIGKILL) {
						w.mu.Lock()
						w.lost++
						w.mu.Unlock()
						return true
					}
				}
			}
			return false
		})
	}
}

// noPasses keeps cron from making passes for so long that the group is not healthy for that reason
// alone. Then a service dies, and only those who look notice.
func noPasses(w *world) {
	w.calm()
	w.write("held", "")
	time.Sleep(staleness + pause)
	w.kill(w.steadyOne())
	time.Sleep(pause)
	w.remove("held")
}

// serviceStopped stops a service for longer than the staleness. It promised no heartbeats, so it is
// the same one afterwards.
func serviceStopped(w *world) {
	w.calm()
	service := []string{"redis", "worker", "noisy"}[w.choose.IntN(3)]
	s, p := w.start(service)
	s.box.signal(p.pid, syscall.SIGSTOP)
	time.Sleep(staleness + pause)
	s.box.signal(p.pid, syscall.SIGCONT)
	if is := w.now(); is.entries[service].StartID != s.entries[service].StartID {
		w.fault("%s was restarted because it was stopped by SIGSTOP", service)
	}
}

// webHangs stops web until its health check has failed so often that it is restarted. Before its
// first success, failures would not count for a minute.
func webHangs(w *world) {
	var s snapshot
	var p process
	if !poll.Within(back, func() bool {
		s, p = w.start("web")
		e := s.entries["web"]
		return e.Health != nil && e.Health.Passed
	}) {
		w.fault("the health check of web does not succeed")
	}
	s.box.signal(p.pid, syscall.SIGSTOP)
	if !poll.Within(poll.Patience, func() bool {
		return w.now().entries["web"].StartID != s.entries["web"].StartID
	}) {
		w.fault("web hangs, and is not restarted: %+v", w.now().entries["web"])
	}
}

// reboot kills the container, and boots it with the same ledger. Half of the time, the pid
// namespace of the new one has another number.
func (w *world) reboot() {
	time.Sleep(w.upTo(pause))
	if w.choose.IntN(2) == 0 {
		old, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", w.current().first))
		w.must(err)
		defer old.Close()
	}
	w.stop()
	w.mu.Lock()
	w.lost++
	w.mu.Unlock()
	w.boot()
}

// containerBoots has a service die before the container does. Its exit record is evidence, although
// nothing can be seen of its process, and before the first pass.
func containerBoots(w *world) {
	w.calm()
	w.write("held", "")
	service := w.steadyOne()
	start := w.kill(service)
	var e entry
	if !poll.Within(poll.Patience, func() bool {
		s := w.now() // a pass that had begun may take it in, and restart the service later
		e = s.entries[service]
		return s.of(service).recorded || e.StartID != start || e.State != "running"
	}) {
		w.fault("there is no record of the end of %s: %+v", service, e)
	}
	w.reboot()
	time.Sleep(pause)
	w.remove("held")
}

// machineBoots boots with another boot id, which the host of a container has after its own boot.
func machineBoots(w *world) {
	w.remove("boot_id") // the container that still runs has the old file
	w.write("boot_id", fmt.Sprintf("%08x-89ab-4def-8123-456789abcdef\n", w.choose.Uint32()))
	w.reboot()
}

// clockBehind boots with a clock that is an hour behind, until it is set.
func clockBehind(w *world) {
	w.write("behind", "")
	w.reboot()
	time.Sleep(2 * pause)
	w.remove("behind")
}

// diskFull has the log of noisy fill the disk of the ledger. Something dies while it is full.
func diskFull(w *world) {
	w.start("noisy")
	w.remove("flooded")
	w.write("flood", "")
	if !poll.Within(poll.Patience, func() bool { return w.exists("flooded") }) {
		w.fault("the disk does not become full")
	}
	w.kill([]string{"redis", "web", "worker"}[w.choose.IntN(3)])
	if !poll.Within(poll.Patience, func() bool {
		var s syscall.Statfs_t
		w.must(syscall.Statfs(w.disk, &s))
		return s.Bavail > s.Blocks/2
	}) {
		w.fault("the disk stays full")
	}
}

// hookFails kills a service while mails cannot be sent. First it waits for the try that follows an
// earlier failure, because the pauses between tries grow.
func hookFails(w *world) {
	w.alerted()
	w.remove("refused")
	w.write("broken", "")
	w.kill(w.steadyOne())
	if !poll.Within(poll.Patience, func() bool { return w.exists("refused") }) {
		w.fault("no pass has run the hook")
	}
	w.remove("broken")
}

// upgrade replaces the commands, each by a rename.
func upgrade(w *world) {
	for _, name := range []string{"dpl-status", "dpl-check", "dpl"} {
		time.Sleep(w.upTo(pause / 4))
		path := filepath.Join(w.bin(), name)
		text, err := os.ReadFile(path)
		w.must(err)
		w.must(os.WriteFile(path+".new", text, 0o755))
		w.must(os.Rename(path+".new", path))
	}
	w.kill(w.steadyOne())
}

// maintenance has a service killed in a maintenance, in which it stays down.
func maintenance(w *world) {
	service := w.steadyOne()
	w.start(service)
	w.do("dpl-register", "--service", service, "--maintenance", "1h")
	start := w.kill(service)
	time.Sleep(2 * pause)
	s := w.now()
	if e := s.entries[service]; e.StartID != start || e.Maintenance == nil {
		w.fault("%s is not left alone in its maintenance: %+v", service, e)
	}
	w.do("dpl-register", "--service", service, "--maintenance", "off")
}

// asked records that a person has asked for a restart.
func (w *world) asked(service string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asks[service]++
}

// restart asks for a restart of a service on which no other depends.
func restart(w *world) {
	service := []string{"web", "worker", "noisy"}[w.choose.IntN(3)]
	s, _ := w.start(service)
	w.do("dpl-restart", "--service", service)
	w.asked(service)
	if !poll.Within(poll.Patience, func() bool {
		return w.now().entries[service].StartID != s.entries[service].StartID
	}) {
		w.fault("%s is not restarted", service)
	}
}

// shutdown asks for a stop of a service, and then for a start.
func shutdown(w *world) {
	service := []string{"web", "worker", "noisy"}[w.choose.IntN(3)]
	w.start(service)
	w.do("dpl-shutdown", "--service", service)
	if !poll.Within(poll.Patience, func() bool {
		s := w.now()
		return s.entries[service].State == "stopped" && len(s.living()[service]) == 0
	}) {
		w.fault("%s does not stop: %+v", service, w.now().entries[service])
	}
	time.Sleep(pause)
	w.do("dpl-register", "--service", service, "--request", "--no-pass")
	w.asked(service)
}
