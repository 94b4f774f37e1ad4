package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/inspect"
	"github.com/dpl-project/dpl/protocol/check"
	"github.com/dpl-project/dpl/protocol/wire"
)

// rules returns the rules.
func (c *checker) rules() (check.Rules, error) {
	text, err := read(c.Rules)
	if err != nil {
		return check.Rules{}, err
	}
	rules, err := check.Decode(text)
	return rules, c.about(err)
}

// about returns err with the name of the rules if it is about them.
func (c *checker) about(err error) error {
	if errors.Is(err, wire.ErrCorrupt) {
		return fmt.Errorf("%s: %w", nameOf(c.Rules), err)
	}
	return err
}

// start returns what --since has, or nil.
func (c *checker) start() (*check.Snapshot, error) {
	if c.Since == "" {
		return nil, nil
	}
	text, err := read(c.Since)
	if err != nil {
		return nil, err
	}
	s, err := check.DecodeSnapshot(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", nameOf(c.Since), err)
	}
	return &s, nil
}

func (c *checker) options(env *cli.Env) inspect.Options {
	o := inspect.Options{Now: env.Observer()().Now, Output: env.Stderr, DryRun: env.DryRun()}
	if c.Given("exit") {
		status := int64(c.Exit)
		o.Exit = &status
	}
	return o
}

// most is the size of the largest file of rules, and of the largest snapshot: there is room for a
// long path of each file that a check may look at.
const most = 16 << 20

// read returns the content of the file, or of standard input.
func read(path cli.Path) (string, error) {
	from := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(string(path))
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}

	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%w: it is larger than %d MiB", wire.ErrCorrupt, most>>20)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", nameOf(path), err)
	}
	return string(data), nil
}

func nameOf(path cli.Path) string {
	if path == "-" {
		return "standard input"
	}
	return string(path)
}
