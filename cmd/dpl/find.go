package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// prefix is what the name of a command begins with as the name of a program.
const prefix = "dpl-"

var errNoCommand = errors.New("no such command")

func program(name string) string { return prefix + name }

func quote(s string) string { return strconv.Quote(s) }

// find returns the path of the program for the command name: in the directory that this program is in, and then in those of
// $PATH. It returns errNoCommand if there is none.
func find(name string) (path string, err error) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return "", errNoCommand
	}
	if dir := home(); dir != "" {
		if path, err = executable(filepath.Join(dir, program(name))); err == nil {
			return path, nil
		}
	}
	return search(program(name))
}

// home returns the directory of this program, whatever symbolic links lead to it; "" if that is not known.
func home() string {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// search returns the path of a program in $PATH, or errNoCommand. A relative directory there is left out: what it means
// depends on where one is, as package os/exec has it.
func search(file string) (string, error) {
	for _, dir := range directories() {
		if path, err := executable(filepath.Join(dir, file)); err == nil {
			return path, nil
		}
	}
	return "", errNoCommand
}

func directories() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
