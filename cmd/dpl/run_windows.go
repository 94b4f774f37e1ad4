package main

import (
	"os"
	"os/exec"
	"strings"
)

const suffix = ".exe"

// executable returns path with its suffix if that is a program.
func executable(path string) (string, error) {
	path += suffix
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoCommand
	}
	return path, err
}

// execute runs the program at path, called as name, and exits with its status, because a process
// cannot become another program here. It returns only on an error.
func execute(path, name string, args []string) error {
	cmd := exec.Command(path, args...)
	cmd.Args[0] = name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState != nil {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return err
}

// nameOf returns the command name of a program file.
func nameOf(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(file, prefix), suffix)
}
