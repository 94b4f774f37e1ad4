//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/scripts/powerloss"
)

// A recording runs commands in base, which is on the disk whose writes are in the file log.
type recording struct {
	bin, base, log, acks string
	rounds, writers      int
	creating             []string // flags of the command that creates the ledger

	mu  sync.Mutex
	out record
}

// A record is the log of a recording: the number of log entries before it began, and what was
// acknowledged.
type record struct {
	Begin int64           `json:"begin"`
	Acks  []powerloss.Ack `json:"acks"`
}

func (r *recording) define(f *flag.FlagSet) {
	f.StringVar(&r.bin, "bin", "", "directory of the commands")
	f.StringVar(&r.base, "base", "", "directory on the disk, which does not exist yet")
	f.StringVar(&r.log, "log", "", "log of the disk")
	f.StringVar(&r.acks, "acks", "", "file to write")
	f.IntVar(&r.rounds, "rounds", 1, "how often to run all scenarios")
	f.IntVar(&r.writers, "writers", 0, "how many writers at once, instead of the scenarios")
}

func (r *recording) run() error {
	if err := powerloss.Prepare(r.base); err != nil {
		return err
	}
	if err := syncfs(r.base); err != nil {
		return err
	}

	var err error
	if r.out.Begin, err = entries(r.log); err != nil {
		return err
	}

	if r.writers > 0 {
		err = r.together()
	} else {
		err = r.oneByOne()
	}

	if err != nil {
		return err
	}

	data, err := json.Marshal(r.out)
	if err != nil {
		return err
	}

	return os.WriteFile(r.acks, data, 0o600)
}

// syncfs makes the whole file system of dir durable, because commands are not responsible for what
// they find there.
func syncfs(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// oneByOne runs the scenarios.
func (r *recording) oneByOne() error {
	var recorder powerloss.Recorder
	for _, c := range powerloss.Long(r.rounds, r.creating...).Commands {
		if err := c.Run(c.Exec(r.bin, r.base)); err != nil {
			return err
		}

		at, err := entries(r.log)
		if err != nil {
			return err
		}
		if err := recorder.Note(r.base, at, !c.Beat); err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
	}

	r.out.Acks = recorder.Acks
	return nil
}

// together runs all writers at once. Each pushes and pops calls of an operation shared by all, and
// of one of its own.
func (r *recording) together() error {
	create := append([]string{"dpl-push", "--participant", "root", "--call", "root"}, r.creating...)
	if err := r.acknowledged("shared", create); err != nil {
		return err
	}

	errs := make([]error, r.writers)
	var all sync.WaitGroup
	for w := range r.writers {
		all.Go(func() { errs[w] = r.write(fmt.Sprintf("writer%d", w)) })
	}

	all.Wait()
	return errors.Join(errs...)
}

func (r *recording) write(name string) error {
	for round := range 5 * r.rounds {
		for _, op := range []string{"shared", name} {
			call := fmt.Sprintf("%s-%d", name, round)
			push := []string{"dpl-push", "--participant", name, "--call", call}
			pop := []string{"dpl-pop", "--keep-open", "--call", call}
			if err := errors.Join(r.acknowledged(op, push), r.acknowledged(op, pop)); err != nil {
				return err
			}
		}
	}

	return nil
}

// acknowledged runs a command on an operation and notes the revision that it prints.
func (r *recording) acknowledged(op string, args []string) error {
	c := powerloss.Command{Args: append(args, "--op", op, "--json", "--lock-timeout", "60s")}
	cmd := c.Exec(r.bin, r.base)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w\n%s", c, err, stderr.String())
	}

	at, err := entries(r.log)
	var said struct{ Revision int64 }
	if err = errors.Join(err, json.Unmarshal([]byte(stdout.String()), &said)); err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.out.Acks = append(r.out.Acks, powerloss.Ack{At: at, Object: "operation " + op,
		Revision: said.Revision, Durable: true})

	return nil
}
