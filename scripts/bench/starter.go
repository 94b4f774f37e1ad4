//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A starter starts all processes in the same way. Package os clones with CLONE_VFORK, so the size
// of the benchmark itself does not matter. Nothing is copied through pipes.
type starter struct {
	env    []string
	dir    string
	null   *os.File
	errors *os.File // their stderr
}

func newStarter(dir string) (s *starter, err error) {
	s = &starter{dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C"}}
	if s.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	s.errors, err = os.CreateTemp(dir, "stderr-")
	return s, err
}

func (s *starter) start(argv []string) (*os.Process, error) {
	return os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: s.dir, Env: s.env, Files: []*os.File{s.null, s.null, s.errors},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
}

// time returns the time from just before argv is started until its end was seen. It fails unless
// argv exits 0.
func (s *starter) time(argv []string) (time.Duration, error) {
	began := time.Now()
	p, err := s.start(argv)
	if err != nil {
		return 0, err
	}

	state, err := p.Wait()
	took := time.Since(began)
	if err == nil && !state.Success() {
		err = fmt.Errorf("%s: %v: %s", filepath.Base(argv[0]), state, s.said())
	}
	return took, err
}

// said returns the end of what was printed to stderr.
func (s *starter) said() []byte {
	text, err := os.ReadFile(s.errors.Name())
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(text[max(0, len(text)-500):])
}

// with returns a starter like s, with variables more in the environment.
func (s *starter) with(variables ...string) *starter {
	more := *s
	more.env = slices.Concat(s.env, variables)
	return &more
}
