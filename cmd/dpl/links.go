package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// makeLinks makes links in a directory to the programs beside dpl, one for each command. It never
// replaces a file, and names those that are in the way, unless they are these commands themselves.
func makeLinks(args []string) int {
	if len(args) > 1 || len(args) == 1 && (args[0] == "" || strings.HasPrefix(args[0], "-")) {
		return fail(statusUsage, "links: want one directory, or none for that of dpl")
	}

	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return fail(statusIO, "links: "+err.Error())
	}
	dir := filepath.Dir(self)
	if len(args) == 1 {
		dir = args[0]
	}

	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fail(statusCreate, "links: "+quote(dir)+": no such directory: make it first")
	}

	worst, same := 0, 0
	for _, l := range linksIn(self) {
		link := filepath.Join(dir, l.name)
		switch err := makeLink(l.program, link); {
		case err == nil:
		case isCommand(link):
			same++
		default:
			worst = fail(statusCreate, "links: "+err.Error())
		}
	}
	if same > 0 {
		fail(0, fmt.Sprintf("links: %s: programs that are left as they are, because they are commands "+
			"of this version: %d", quote(dir), same))
	}
	return worst
}

// A target is the program for which there should be a link called name.
type target struct{ name, program string }

// linksIn returns the links that go to this program, at the path self, and to those beside it.
func linksIn(self string) []target {
	all := []target{{"dpl" + suffix, self}}
	for _, chapter := range chapters {
		for _, c := range chapter.commands {
			program := self
			if c.main == nil {
				program = filepath.Join(filepath.Dir(self), c.program+suffix)
			}
			all = append(all, target{prefix + c.name + suffix, program})
		}
	}
	return all
}

// isCommand reports whether path is a program, and no link, that is the command of its name in this
// version: go install makes such programs. It looks for what Go writes into a program, and does not
// run it, because anyone may have put it there. Package debug/buildinfo would delay all commands.
func isCommand(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := os.ReadFile(path)
	own, known := debug.ReadBuildInfo()
	if err != nil || !known {
		return false
	}

	name := strings.TrimSuffix(filepath.Base(path), suffix)
	marks := []string{"path\t" + own.Main.Path + "/cmd/" + name + "\nmod\t" + own.Main.Path + "\t" +
		own.Main.Version + "\t"}
	for _, s := range own.Settings {
		if s.Key == "vcs.revision" {
			marks = append(marks, "build\tvcs.revision="+s.Value+"\n")
		}
	}
	return !slices.ContainsFunc(marks, func(mark string) bool {
		return !bytes.Contains(text, []byte(mark))
	})
}

// makeLink makes a link to a program, a symbolic one if there are any here. It does nothing if that
// file is there already.
func makeLink(program, link string) error {
	there, err := os.Stat(program)
	if err != nil {
		return errors.New(link + ": not made, because there is no " + program +
			": install that first")
	}
	if here, err := os.Stat(link); err == nil && os.SameFile(here, there) {
		return nil
	}
	if _, err := os.Lstat(link); err == nil {
		return errors.New(link + ": left as it is, because it is not a link to " + program +
			": remove it first")
	}

	to := program
	if dir, err := filepath.EvalSymlinks(filepath.Dir(link)); err == nil &&
		dir == filepath.Dir(program) {
		to = filepath.Base(program)
	}
	err = os.Symlink(to, link)
	if err != nil && suffix != "" { // Windows lets few users make them
		err = os.Link(program, link)
	}
	return err
}
