package main

import (
	"os"
	"os/exec"
	"strings"
)

const suffix = ".exe"

// executable returns the path of the program that is called path without its suffix.
func executable(path string) (string, error) {
	path += suffix
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoCommand
	}
	return path, err
}

// become runs the program at path and ends with its exit status, for no process becomes another here. It returns only if that
// fails.
func become(path string, args []string) error {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState != nil {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return err
}

// nameOf returns the name of the program in the file name.
func nameOf(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(file, prefix), suffix)
}
