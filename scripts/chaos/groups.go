//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// register registers a service of group g.
func (w *world) register(service string, dependencies []string, command ...string) {
	words := []string{
		"dpl-register", "--group", "g", "--request", "--no-pass", "--supervisor", service,
		"--backoff", "0,0.1s", "--max-attempts", "100000", "--kill-timeout", "2s",
		"--env", "PATH=" + w.bin + ":" + os.Getenv("PATH"), "--env", "CHAOS=" + w.dir,
	}
	for _, d := range dependencies {
		words = append(words, "--depends-on", d)
	}
	w.exits(ok, append(append(words, "--"), command...)...)
}

// running returns how many services of g are running, as dpl-status says.
func (w *world) running(services ...string) (n int) {
	for _, s := range services {
		if w.exits([]int{0, 1}, "dpl-status", "--group", "g", "--supervisor", s, "--check", "running").status == 0 {
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
		w.register(s, below, strings.Fields(lines[i])...)
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
			if r := w.finish(cmd, words); r.status != 0 && r.status != 71 && r.status != 75 && r.status != 128+int(syscall.SIGKILL) {
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
	program string
	command func(w *world, port string) []string
}

var daemons = []daemon{
	{"redis-server", func(w *world, port string) []string {
		return []string{"redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", w.dir}
	}},
	{"memcached", func(_ *world, port string) []string {
		return []string{"memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-u", "root"}
	}},
	{"nginx", func(w *world, port string) []string {
		w.write("nginx.conf", "daemon off; pid "+w.dir+"/nginx.pid; error_log stderr; user root;\nevents {}\n"+
			"http { access_log off; server { listen 127.0.0.1:"+port+"; return 200 \"hello\"; } }\n")
		return []string{"nginx", "-p", w.dir, "-e", "stderr", "-c", w.dir + "/nginx.conf"}
	}},
	{"python3", func(w *world, port string) []string {
		return []string{"python3", "-m", "http.server", port, "--bind", "127.0.0.1", "--directory", w.dir}
	}},
	{"sleep", func(*world, string) []string { return []string{"sleep", "3001"} }},
}

// services runs what is installed of daemons, each depending on the one before, and kills them, stops
// them and removes their logs. In the end all answer.
func services(w *world) {
	ports := make(map[string]string)
	var names, below []string
	for _, d := range daemons {
		if _, err := exec.LookPath(d.program); err != nil {
			continue
		}
		port := freePort(w)
		if d.program != "sleep" {
			ports[d.program] = port
		}
		w.register(d.program, below, d.command(w, port)...)
		names, below = append(names, d.program), []string{d.program}
	}

	for range 20 + w.intn(20) {
		w.pass()
		victim := names[w.intn(len(names))]
		switch w.intn(4) {
		case 0:
			w.killOne(victim)
		case 1:
			w.exits([]int{0, 76}, "dpl-restart", "--group", "g", "--supervisor", victim)
		case 2:
			os.RemoveAll(filepath.Join(w.ledger, "logs", "g", victim+".log"))
		case 3:
			w.killKept(victim)
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

// killKept kills the keeper of a process of this world whose command line begins with a word, and then
// the process with its group: what that left alone would hold the service, as nobody vouches for it.
func (w *world) killKept(word string) {
	for _, pid := range w.processes() {
		if !strings.HasPrefix(describe(pid), fmt.Sprintf("%d \"%s", pid, word)) {
			continue
		}
		var parent int
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " %c %d", new(rune), &parent)
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); string(name) == "dpl-keeper\n" {
			syscall.Kill(parent, syscall.SIGKILL)
			syscall.Kill(-pid, syscall.SIGKILL)
			return
		}
	}
}

// freePort returns a port that nobody listens to now.
func freePort(w *world) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	w.must(err)
	return port
}
