//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A crew is workers that begin at once.
type crew struct {
	commands []*exec.Cmd
	stdin    []io.WriteCloser
	stdout   []*bufio.Reader
}

// hire starts n workers with the same job, and returns when all are ready.
func (b *bench) hire(n int, j job) (c *crew, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}

	c = &crew{}
	for range n {
		cmd := exec.CommandContext(b.ctx, self)
		cmd.Env = append(b.starter.env, workerVariable+"="+string(text))
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if inErr != nil || outErr != nil {
			return nil, fmt.Errorf("%v, %v", inErr, outErr)
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}

		c.commands, c.stdin, c.stdout = append(c.commands, cmd), append(c.stdin,
			in), append(c.stdout, bufio.NewReader(out))
	}

	for _, out := range c.stdout {
		if _, err := out.ReadString('\n'); err != nil {
			return nil, fmt.Errorf("a worker is not ready: %w", err)
		}
	}

	return c, nil
}

// work lets the crew work, and returns when it began, and what each worker has done.
func (c *crew) work() (began time.Duration, done []shift, err error) {
	began = monotonic()
	for _, in := range c.stdin {
		if _, err := io.WriteString(in, "go\n"); err != nil {
			return 0, nil, err
		}
	}

	for i, out := range c.stdout {
		var s shift
		if err := json.NewDecoder(out).Decode(&s); err != nil {
			return 0, nil, fmt.Errorf("a worker has not said what it did: %w", err)
		}
		if err := c.commands[i].Wait(); err != nil {
			return 0, nil, err
		}
		done = append(done, s)
	}

	return began, done, nil
}
