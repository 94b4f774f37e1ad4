//go:build linux

package main

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
)

// tools are the peers: programs, or "" for those that are left out.
type tools struct {
	null        string // a Go program that does nothing
	limit       string // c/limit.c
	pass        string // c/pass.c
	await       string // c/await.c
	flock, jq   string
	sqlite      string
	redis       string // redis-cli
	redisSocket string
	redisServer *os.Process
	python      string
	true        string
	make, gcc   string

	nq, tsp         string
	beanstalk       string // c/beanstalk.c
	beanstalkSocket string
	beanstalkServer *os.Process
}

//go:embed c
var sources embed.FS

var nullSource = []byte("package main\n\nfunc main() {}\n")

// findTools finds or builds the peers.
func (b *bench) findTools() (err error) {
	t := &b.tools
	if t.null, err = b.buildNull(); err != nil {
		return err
	}

	if b.find("C", "cc") != "" {
		for name, program := range map[string]*string{"limit": &t.limit, "pass": &t.pass,
			"await": &t.await} {
			if *program, err = b.compile(name); err != nil {
				return err
			}
		}
	}

	if t.jq = b.find("jq", "jq"); t.jq != "" {
		t.flock = b.find("jq", "flock")
	}

	t.sqlite = b.find("sqlite3", "sqlite3")
	t.true, t.make, t.gcc = b.find("true as a call", "true"), b.find("a build",
		"make"), b.find("a build", "gcc")
	if t.python = b.find("python3", "python3"); t.python != "" {
		// Not a script of pyenv or the like, which takes many times as long.
		if t.python, err = b.prepare(t.python, "-c",
			"import sys; print(sys.executable)"); err != nil {
			return err
		}
	}

	t.nq, t.tsp = b.find("nq", "nq"), b.find("task-spooler", "tsp")
	if err := b.findBeanstalk(); err != nil {
		return err
	}

	return b.findRedis()
}

// find returns the path of program, or "" and leaves peer out.
func (b *bench) find(peer, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		b.leaveOut(peer, "there is no "+program)
		return ""
	}
	return path
}

// buildNull builds a program that does nothing, as the commands are built.
func (b *bench) buildNull() (string, error) {
	source, program := filepath.Join(b.work, "null.go"), filepath.Join(b.work, "null")
	if err := os.WriteFile(source, nullSource, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o",
		program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// compile compiles a program of c/, with the C library in it if that can be had.
func (b *bench) compile(name string) (string, error) {
	source, err := sources.ReadFile("c/" + name + ".c")
	if err != nil {
		return "", err
	}

	file, program := filepath.Join(b.work, name+".c"), filepath.Join(b.work, name)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	if _, err := b.prepare("cc", "-O2", "-static", "-o", program, file); err == nil {
		return program, nil
	}

	_, err = b.prepare("cc", "-O2", "-o", program, file)
	return program, err
}
