//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// register registers a service of group g.
func (w *world) register(service string, dependencies, options []string, command ...string) {
	words := []string{
		"dpl-register", "--group", "g", "--request", "--no-pass", "--supervisor", service,
		"--backoff", "0,0.1s", "--max-attempts", "100000", "--kill-timeout", "2s",
		"--env", "PATH=" + w.bin + ":" + os.Getenv("PATH"), "--env", "CHAOS=" + w.dir,
	}

	for _, d := range dependencies {
		words = append(words, "--depends-on", d)
	}

	words = append(words, options...)
	w.exits(ok, append(append(words, "--"), command...)...)
}

// running returns how many services of g are running, as dpl-status says.
func (w *world) running(services ...string) (n int) {
	for _, s := range services {
		if w.exits([]int{0, 1}, "dpl-status", "--group", "g", "--supervisor", s, "--check",
			"running").status == 0 {
			n++
		}
	}
	return n
}

// copies returns how many processes have exactly this command line.
func (w *world) copies(line string) (n int) {
	for _, pid := range w.processes() {
		if strings.HasSuffix(describe(pid), fmt.Sprintf(" %q", line)) {
			n++
		}
	}
	return n
}

// pass makes a pass, which may find another one at work.
func (w *world) pass() { w.exits([]int{0, 71, 75}, "dpl-orchestrate", "--group", "g") }

// stop stops all services, and looks that nothing of them goes on.
func (w *world) stop() {
	w.exits(ok, "dpl-shutdown", "--group", "g", "--all", "--wait", "--timeout", "60s")
	if left := w.processes(); len(left) > 0 {
		w.fail("dpl-shutdown --wait has exited 0, and %s goes on", describe(left[0]))
	}
}

// passes makes many passes at once, and kills half of them. Each service runs once.
func passes(w *world) {
	services := []string{"db", "api", "web"}
	lines := []string{"sleep 2001", "sleep 2002", "sleep 2003"}
	var below []string

	for i, s := range services {
		w.register(s, below, nil, strings.Fields(lines[i])...)
		below = []string{s}
	}

	for range 3 {
		w.together(45, 45, func(int) {
			cmd := w.command("dpl-orchestrate", "--group", "g")
			if w.intn(2) == 0 {
				timer := time.AfterFunc(time.Duration(w.intn(150))*time.Millisecond, func() {
					if cmd.Process != nil {
						cmd.Process.Kill()
					}
				})
				defer timer.Stop()
			}

			words := []string{"dpl-orchestrate", "--group", "g"}
			if r := w.finish(cmd, words); r.status != 0 && r.status != 71 && r.status != 75 &&
				r.status != 128+int(syscall.SIGKILL) {
				w.fail("%v", r)
			}
		})

		w.until("each service runs once", func() bool {
			w.pass()
			if w.running(services...) < len(services) {
				return false
			}

			for _, line := range lines {
				if w.copies(line) != 1 {
					return false
				}
			}

			return true
		})

		w.killOne(lines[w.intn(len(lines))])
	}

	w.stop()
}

// A daemon is a program of others that can be a service.
type daemon struct {
	name    string
	program string
	mark    string   // a part of its command lines; empty: its port
	under   []string // dpl-serve and its flags, under which it runs
	options []string // of dpl-register
	command func(w *world, port string) []string
}

var (
	underServe  = []string{"dpl-serve", "--"}
	underNotify = []string{"dpl-serve", "--notify", "--"}
	starting    = []string{"--readiness", "starting"}
	promised    = []string{"--heartbeat"}
)

var daemons = []daemon{
	{"redis", "redis-server", "", nil, nil, redis},
	{"notify", "redis-server", "", underNotify, starting, func(w *world, port string) []string {
		return append(redis(w, port), "--supervised", "systemd")
	}},
	{"memcached", "memcached", "", nil, nil, func(_ *world, port string) []string {
		return []string{"memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-u", "root"}
	}},
	{"nginx", "nginx", "", nil, nil, func(w *world,
		port string) []string {
		return nginx(w, port, "off")
	}},
	{"background", "nginx", "", underServe, nil,
		func(w *world, port string) []string { return nginx(w, port, "on") }},
	{"python", "python3", "", nil, nil, func(w *world, port string) []string {
		return []string{"python3", "-m", "http.server", port, "--bind", "127.0.0.1", "--directory",
			w.dir}
	}},
	{"sleep", "sleep", "sleep 3001", nil, nil,
		func(*world, string) []string { return []string{"sleep", "3001"} }},
	{"heartbeats", "sh", "--supervisor heartbeats", nil, promised, func(*world, string) []string {
		return []string{"sh", "-c", "while dpl-heartbeat --group g --supervisor heartbeats; do " +
			"sleep 0.3; done"}
	}},
}

func redis(w *world, port string) []string {
	return []string{"redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
		"--appendonly", "no", "--dir", w.dir}
}

// nginx clears the environment of its workers.
func nginx(w *world, port, background string) []string {
	name := "nginx" + port
	w.write(name, "daemon "+background+"; pid "+w.dir+"/"+name+".pid; error_log stderr; user "+
		"root;\nevents {}\n"+
		"http { access_log off; server { listen 127.0.0.1:"+port+"; return 200 \"hello\"; } }\n")
	return []string{"nginx", "-p", w.dir, "-e", "stderr", "-c", w.dir + "/" + name}
}

// services runs installed daemons, each depending on the one before, and kills, stops and freezes
// them and removes their logs. In the end all of them answer.
func services(w *world) {
	var ports, names, below []string
	var running []daemon
	for _, d := range daemons {
		if _, err := exec.LookPath(d.program); err != nil {
			continue
		}

		port := freePort(w)
		w.register(d.name, below, d.options, slices.Concat(d.under, d.command(w, port))...)
		if d.mark == "" {
			d.mark = port
			ports = append(ports, port)
		}

		running = append(running, d)
		names, below = append(names, d.name), []string{d.name}
	}

	for range 20 + w.intn(20) {
		w.pass()
		victim := running[w.intn(len(running))]
		switch w.intn(6) {
		case 0:
			w.killOne(victim.mark)
		case 1:
			w.killOne("nginx: worker")
		case 2:
			w.exits([]int{0, 76}, "dpl-restart", "--group", "g", "--supervisor", victim.name)
		case 3:
			os.RemoveAll(filepath.Join(w.ledger, "logs", "g", victim.name+".log"))
		case 4:
			if victim.under == nil {
				w.killKept(victim.mark)
			}
		case 5:
			w.freeze(victim)
		}

		time.Sleep(time.Duration(w.intn(100)) * time.Millisecond)
	}

	w.until("all services run and answer", func() bool {
		w.pass()
		for _, port := range ports {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err != nil {
				return false
			}
			c.Close()
		}

		return w.running(names...) == len(names)
	})

	w.stop()
}

// killKept kills the keeper of a process of this world whose command line contains mark, and then
// the process with its group. Processes left alone would hold the service, because nothing vouches
// for them.
func (w *world) killKept(mark string) {
	for _, pid := range w.processes() {
		if !strings.Contains(describe(pid), mark) {
			continue
		}

		var parent int
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", new(rune), &parent)
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm",
			parent)); string(name) == "dpl-keeper\n" {
			if w.signal(parent, syscall.SIGKILL) && w.signal(pid, syscall.SIGSTOP) {
				syscall.Kill(-pid, syscall.SIGKILL) // stopped, it keeps its number
			}
			return
		}
	}
}

// freeze stops a process of a service during two passes. If the service promised heartbeats, it is
// not continued: a pass must find it.
func (w *world) freeze(d daemon) {
	for _, pid := range w.processes() {
		if strings.Contains(describe(pid), d.mark) && w.signal(pid, syscall.SIGSTOP) {
			w.pass()
			w.pass()
			if !slices.Equal(d.options, promised) {
				w.signal(pid, syscall.SIGCONT)
			}
			return
		}
	}
}

// freePort returns a port on which no one listens.
func freePort(w *world) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	w.must(err)
	return port
}
