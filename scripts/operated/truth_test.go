//go:build linux

package operated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is one in the container, by its numbers there.
type process struct {
	pid, parent int
	state       byte
	words       []string
	start       string // DPL_START in the environment that it was given
}

// dead reports whether p has ended, and its parent has yet to see that.
func (p process) dead() bool { return p.state == 'Z' || p.state == 'X' }

// of returns whose keeper p is.
func (p process) of() (service, start string) {
	if len(p.words) == 0 || p.words[0] != "dpl-keeper" {
		return "", ""
	}
	name := strings.TrimSuffix(filepath.Base(p.words[len(p.words)-1]), ".tmp")
	service, start, _ = strings.Cut(name, "~")
	return service, start
}

// An entry is what the rig reads of a service in the registry.
type entry struct {
	State       string
	PID         int
	StartID     string
	BlockedBy   string
	StartedAt   time.Time
	Process     struct{ PidNamespace string }
	Health      *struct{ Passed bool }
	Maintenance *struct{ Until time.Time }
}

// A snapshot has the truth at a moment, from the processes and the files alone.
type snapshot struct {
	box       container
	processes map[int]process
	starts    []string // the lines of the file "starts"
	records   []string // the names of complete exit records
	healthy   bool     // the health check of web has succeeded since its start
	behind    bool
	at        time.Time

	revision  int
	entries   map[string]entry
	heartbeat time.Time // of the orchestrator
	period    time.Duration
}

// snapshot returns the truth now; ok is false if no container is up.
func (w *world) snapshot() (s snapshot, ok bool) {
	s.box = w.current()
	if s.box.first == 0 {
		return s, false
	}

	s.behind = w.exists("behind")
	s.processes = s.box.processes()
	s.starts = w.lines("starts")
	records, _ := filepath.Glob(filepath.Join(w.ledger(), "exits", group, "*.json"))
	for _, path := range records {
		s.records = append(s.records, filepath.Base(path))
	}
	s.healthy = w.exists("healthy")
	s.at = time.Now()
	var registry struct {
		Revision    int
		Supervisors map[string]entry
	}
	var orchestrator struct {
		OrchestratorHeartbeat time.Time
		PeriodMs              int64
	}
	if !read(filepath.Join(w.ledger(), group+".supervisors.json"), &registry) ||
		!read(filepath.Join(w.ledger(), group+".orchestrator.json"), &orchestrator) {
		return s, false
	}
	s.revision, s.entries = registry.Revision, registry.Supervisors
	s.heartbeat = orchestrator.OrchestratorHeartbeat
	s.period = time.Duration(orchestrator.PeriodMs) * time.Millisecond
	return s, len(s.processes) > 0
}

func read(path string, into any) bool {
	text, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(text, into) == nil
}

// processes returns the processes of c, from its own /proc.
func (c container) processes() map[int]process {
	root := fmt.Sprintf("/proc/%d/root/proc/", c.first)
	all := make(map[int]process)
	names, _ := os.ReadDir(root)
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(root + name.Name() + "/stat")
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(fields) < 2 {
			continue
		}
		p := process{pid: pid, state: fields[0][0]}
		p.parent, _ = strconv.Atoi(fields[1])
		text, _ := os.ReadFile(root + name.Name() + "/cmdline")
		p.words = strings.Split(strings.TrimRight(string(text), "\x00 "), "\x00")
		environment, _ := os.ReadFile(root + name.Name() + "/environ")
		for variable := range strings.SplitSeq(string(environment), "\x00") {
			if start, is := strings.CutPrefix(variable, "DPL_START="); is {
				p.start = start
			}
		}
		all[pid] = p
	}
	return all
}

// numberOutside returns the pid outside of c of its process pid, or 0.
func (c container) numberOutside(pid int) int {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if at, _ := os.Readlink("/proc/" + name.Name() + "/ns/pid"); at != c.namespace {
			continue
		}
		status, _ := os.ReadFile("/proc/" + name.Name() + "/status")
		_, after, _ := strings.Cut(string(status), "\nNSpid:")
		line, _, _ := strings.Cut(after, "\n")
		numbers := strings.Fields(line)
		if len(numbers) > 0 && numbers[len(numbers)-1] == strconv.Itoa(pid) {
			outside, _ := strconv.Atoi(name.Name())
			return outside
		}
	}
	return 0
}

// signal sends a signal to the process pid of c, and reports whether it was there.
func (c container) signal(pid int, sig syscall.Signal) bool {
	outside := c.numberOutside(pid)
	return outside > 0 && syscall.Kill(outside, sig) == nil
}

// runs returns the process of a start of a service, if it lives.
func (s snapshot) runs(service, start string, pid int) (p process, lives bool) {
	p, there := s.processes[pid]
	if !there || p.dead() || start == "" {
		return p, false
	}
	of, its := s.processes[p.parent].of()
	return p, p.start == start || of == service && its == start || s.wrote(service, start, pid)
}

// wrote reports whether that start of the service is the last one that had that pid. Redis
// overwrites the environment that it was given, and its keeper may be gone.
func (s snapshot) wrote(service, start string, pid int) bool {
	for _, line := range slices.Backward(s.starts) {
		if strings.HasSuffix(line, " "+strconv.Itoa(pid)) {
			return line == fmt.Sprintf("%s %s %d", service, start, pid) &&
				strings.HasPrefix(s.processes[pid].words[0], "redis-server")
		}
	}
	return false
}

// alive returns the process that the registry names for a service, and whether it lives.
func (s snapshot) alive(service string) (p process, lives bool) {
	e := s.entries[service]
	return s.runs(service, e.StartID, e.PID)
}

// living returns the starts of each service that have a living process.
func (s snapshot) living() map[string][]string {
	all := make(map[string][]string)
	note := func(service, start string) {
		if service != "" && start != "" && !slices.Contains(all[service], start) {
			all[service] = append(all[service], start)
		}
	}

	for _, line := range s.starts {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		pid, _ := strconv.Atoi(words[2])
		if _, lives := s.runs(words[0], words[1], pid); lives {
			note(words[0], words[1])
		}
	}
	for _, p := range s.processes {
		if service, start := s.processes[p.parent].of(); !p.dead() && p.start != "" {
			note(service, start)
		}
	}
	return all
}

// A fact is the truth about one service.
type fact struct {
	entry     string // as text, to compare it
	lives     bool
	stopped   bool // by SIGSTOP
	beginning bool // nothing of its command has run
	elsewhere bool // in the container before, for all that can be seen
	recorded  bool // its exit record says that it has ended
}

// of returns the fact about a service.
func (s snapshot) of(service string) fact {
	e := s.entries[service]
	p, lives := s.alive(service)
	text, _ := json.Marshal(e)
	recorded := slices.Contains(s.records, service+"~"+e.StartID+".json")
	return fact{
		recorded: recorded,
		entry:    string(text), lives: lives, stopped: lives && (p.state == 'T' || p.state == 't'),
		beginning: lives && p.start == "" && len(p.words) > 0 && p.words[0] == "dpl-keeper" ||
			lives && slices.ContainsFunc(p.words, func(word string) bool {
				return strings.HasPrefix(word, "--dpl-")
			}),
		elsewhere: !recorded && e.Process.PidNamespace != "" &&
			s.box.namespace != "pid:["+e.Process.PidNamespace+"]",
	}
}
