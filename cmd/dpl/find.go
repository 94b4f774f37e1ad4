package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// prefix is the prefix of a command's program.
const prefix = "dpl-"

var errNoCommand = errors.New("no such command")

func program(name string) string { return prefix + name }

func quote(s string) string { return strconv.Quote(s) }

// find returns the path of a program of that name. It looks in the directory of this program and
// then in $PATH. It returns errNoCommand if there is none.
func find(file string) (path string, err error) {
	if file == prefix || strings.ContainsAny(file, `/\`) {
		return "", errNoCommand
	}

	if dir := home(); dir != "" {
		if path, err = executable(filepath.Join(dir, file)); err == nil {
			return path, nil
		}
	}

	return search(file)
}

// home returns the directory of this program, with symbolic links resolved, or "" if it is unknown.
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

// search returns the path of a program in $PATH, or errNoCommand. Like package os/exec it skips
// relative directories, whose meaning depends on the working directory.
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
