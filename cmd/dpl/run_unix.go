//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// suffix ends the name of a program.
const suffix = ""

// executable returns path if it is a program, and errNoCommand if it is not.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = errNoCommand
	}
	return path, err
}

// execute replaces this process with the program at path, called as name. It keeps the pid. It
// returns only on an error.
func execute(path, name string, args []string) error {
	err := syscall.Exec(path, append([]string{name}, args...), os.Environ())
	if errors.Is(err, syscall.ENOENT) {
		return errors.New(path + ": its interpreter is not there")
	}
	return errors.New(path + ": " + err.Error())
}

// nameOf returns the command name of a program file.
func nameOf(file string) string { return strings.TrimPrefix(file, prefix) }
