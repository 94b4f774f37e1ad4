//go:build linux

package main

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
)

// tools are the peers: programs, or "" for those that are left out.
type tools struct {
	null        string // a Go program that does nothing
	limit, pass string // c/limit.c and c/pass.c
	flock, jq   string
	sqlite      string
	redis       string // redis-cli
	redisSocket string
	redisServer *os.Process
	python      string
}

//go:embed c/limit.c
var limitSource []byte

//go:embed c/pass.c
var passSource []byte

var nullSource = []byte("package main\n\nfunc main() {}\n")

// findTools finds or builds the peers.
func (b *bench) findTools() (err error) {
	t := &b.tools
	if t.null, err = b.buildNull(); err != nil {
		return err
	}
	if _, err := exec.LookPath("cc"); err != nil {
		b.leaveOut("C", "there is no cc")
	} else if t.limit, err = b.compile("limit", limitSource); err != nil {
		return err
	} else if t.pass, err = b.compile("pass", passSource); err != nil {
		return err
	}
	if t.jq = b.find("jq", "jq"); t.jq != "" {
		t.flock = b.find("jq", "flock")
	}
	t.sqlite = b.find("sqlite3", "sqlite3")
	if t.python = b.find("python3", "python3"); t.python != "" {
		// Not a script of pyenv or the like, which takes many times as long.
		if t.python, err = b.prepare(t.python, "-c", "import sys; print(sys.executable)"); err != nil {
			return err
		}
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
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// compile compiles a C program, with the C library in it if that can be had.
func (b *bench) compile(name string, source []byte) (string, error) {
	file, program := filepath.Join(b.work, name+".c"), filepath.Join(b.work, name)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	if _, err := b.prepare("cc", "-O2", "-static", "-o", program, file); err == nil {
		return program, nil
	}
	_, err := b.prepare("cc", "-O2", "-o", program, file)
	return program, err
}
