//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// executable returns path if it is a program.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = errNoCommand
	}
	return path, err
}

// become makes this process the program at path: its pid, its signals and its exit status are that one's. It returns only if
// that fails.
func become(path string, args []string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	if errors.Is(err, syscall.ENOENT) {
		return errors.New(path + ": its interpreter is not there")
	}
	return errors.New(path + ": " + err.Error())
}

// nameOf returns the name of the program in the file name.
func nameOf(file string) string { return strings.TrimPrefix(file, prefix) }
