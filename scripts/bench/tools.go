//go:build linux

package main

import (
	"embed"
	"errors"
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

// installCommands copies the commands from dir to where they are run.
func (b *bench) installCommands(dir string) error {
	b.bin = filepath.Join(b.work, "bin")
	if err := os.Mkdir(b.bin, 0o700); err != nil {
		return err
	}
	commands, err := filepath.Glob(filepath.Join(dir, "dpl*"))
	for _, from := range commands {
		to := filepath.Join(b.bin, filepath.Base(from))
		if program, notLink := os.Readlink(from); notLink == nil {
			err = errors.Join(err, os.Symlink(program, to))
		} else {
			err = errors.Join(err, install(from, to))
		}
	}
	return err
}

// install copies a program, as install(1) and package managers do. They leave large pieces in the
// page cache, and a linker leaves single pages, which take longer to map: on Linux 6.18 a copy of a
// command takes an eighth less time. The peers have been installed as well.
func install(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}

// buildNull builds a program that does nothing, as the commands are built.
func (b *bench) buildNull() (string, error) {
	source, linked := filepath.Join(b.work, "null.go"), filepath.Join(b.work, "null.linked")
	if err := os.WriteFile(source, nullSource, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o",
		linked, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	program := filepath.Join(b.work, "null")
	return program, install(linked, program)
}

// compile compiles a program of c/, with the C library in it if that can be had.
func (b *bench) compile(name string) (string, error) {
	source, err := sources.ReadFile("c/" + name + ".c")
	if err != nil {
		return "", err
	}

	file, program := filepath.Join(b.work, name+".c"), filepath.Join(b.work, name)
	linked := program + ".linked"
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return "", err
	}
	if _, err := b.prepare("cc", "-O2", "-static", "-o", linked, file); err == nil {
		return program, install(linked, program)
	}

	if _, err = b.prepare("cc", "-O2", "-o", linked, file); err != nil {
		return "", err
	}
	return program, install(linked, program)
}
