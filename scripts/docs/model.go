package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.1 *.5 *.7 notes completions
var written embed.FS

// A command is the documentation of one command: the output of --help --json, and the text written
// about it.
type command struct {
	SchemaVersion             int
	Program, Summary, Details string
	Arguments                 string
	Usage                     []string // lines without the name of the program
	Flags                     []flagModel
	ExitStatuses              []exitStatus
	Examples                  []struct{ Text, Code string }

	notes notes
}

type flagModel struct {
	Name, Short, Value, Help string
	Values                   []string
	Repeated                 bool
}

// An exitStatus is one of a command: its meaning there, and where the command shares that of all
// commands, or gives it a special one, that of all.
type exitStatus struct{ Status, Meaning, OfAll string }

// load returns the commands in the directory bin, sorted. root is the module.
func load(bin, root string) (commands []*command, err error) {
	paths, err := filepath.Glob(filepath.Join(bin, "dpl-*"))
	if err != nil {
		return nil, err
	}

	slices.Sort(paths)
	for _, path := range paths {
		name := filepath.Base(path)
		c, err := ask(path)
		if err == nil && c.Program != name {
			err = fmt.Errorf("it calls itself %q", c.Program)
		}
		if err == nil {
			c.notes, err = readNotes(c)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}

		commands = append(commands, c)
	}

	if len(commands) == 0 {
		return nil, fmt.Errorf("%s: no commands there", bin)
	}

	return commands, nil
}

// ask returns what the command at path tells of itself.
func ask(path string) (*command, error) {
	out, err := exec.Command(path, "--help", "--json").Output()
	if err != nil {
		return nil, err
	}

	c := new(command)
	if err := json.Unmarshal(out, c); err != nil {
		return nil, err
	}
	if c.SchemaVersion != 1 {
		return nil, fmt.Errorf("schemaVersion: want 1, not %d", c.SchemaVersion)
	}
	return c, nil
}

// takes returns the kind of c's arguments after the flags: another "command", "files", or "" for
// what cannot be completed.
func (c *command) takes() string {
	switch {
	case strings.Contains(c.Arguments, "[ARG...]"):
		return "command"
	case strings.Contains(c.Arguments, "FILE"):
		return "files"
	}
	return ""
}

// common returns the names of the flags that all commands have.
func common(commands []*command) map[string]bool {
	count, all := make(map[string]int), make(map[string]bool)
	for _, c := range commands {
		for _, f := range c.Flags {
			count[f.Name]++
			all[f.Name] = count[f.Name] == len(commands)
		}
	}
	return all
}
