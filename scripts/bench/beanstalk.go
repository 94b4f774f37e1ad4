//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// findBeanstalk starts a beanstalkd of our own, on a socket in the work directory, which calls
// fsync for each change before it answers, and compiles a client: there is none to be had.
func (b *bench) findBeanstalk() error {
	server := b.find("beanstalkd", "beanstalkd")
	if server == "" || b.tools.limit == "" { // no compiler
		return nil
	}

	socket, dir := filepath.Join(b.work, "beanstalk.sock"), filepath.Join(b.work, "binlog")
	if len(socket) > 100 {
		b.leaveOut("beanstalkd", "the name of its socket would be too long: give a shorter -dir")
		return nil
	}

	client, err := b.compile("beanstalk")
	if err := errors.Join(err, os.Mkdir(dir, 0o700)); err != nil {
		return err
	}
	b.tools.beanstalkServer, err = b.starter.start([]string{server, "-l", "unix:" + socket, "-b",
		dir, "-f0"})
	if err != nil {
		return err
	}

	if !poll.Within(patience, func() bool {
		_, err = b.prepare(client, socket, "first", "fill", "0")
		return err == nil
	}) {
		return fmt.Errorf("beanstalkd does not answer: %w", err)
	}

	b.tools.beanstalk, b.tools.beanstalkSocket = client, socket

	return nil
}

// beanstalk returns the arguments that do work with a tube.
func (b *bench) beanstalk(tube, work string, more ...string) []string {
	return append([]string{b.tools.beanstalk, b.tools.beanstalkSocket, tube, work}, more...)
}

// beanstalkPool is a tube. One process takes a task and removes it, because a task belongs to a
// connection.
func (b *bench) beanstalkPool(place string, waiting int) (*pool, error) {
	_, err := b.prepare(b.beanstalk(place, "fill", strconv.Itoa(waiting))...)
	return &pool{
		enqueue: func(int) []string { return b.beanstalk(place, "put") },
		take:    func(int) [][]string { return [][]string{b.beanstalk(place, "take")} },
		loop:    "while " + shell(b.beanstalk(place, "poll")) + "; do true; done",
	}, err
}
