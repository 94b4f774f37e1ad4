package main

import (
	"os"
	"slices"
	"strings"
	"unicode"
)

// help prints the list of commands, or runs the command in args with --help.
func help(args []string) int {
	switch {
	case len(args) > 1:
		return fail(statusUsage,
			"help: unexpected argument "+quote(args[1])+": one command at a time")
	case len(args) == 1 && !slices.ContainsFunc(builtins.commands,
		func(c command) bool { return c.name == args[0] }):
		os.Args = []string{os.Args[0], args[0], "--help"}
		return dispatch(args[0], os.Args[2:])
	}
	return printResult(list())
}

// printResult prints text to stdout and returns the exit status.
func printResult(text string) int {
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fail(statusIO, "its result is lost: "+err.Error())
	}
	return 0
}

func list() string {
	var out strings.Builder
	out.WriteString("Usage: dpl COMMAND [ARG...]\n")
	for _, chapter := range append(slices.Clip(chapters), builtins) {
		out.WriteString("\n" + chapter.title + ":\n")
		for _, c := range chapter.commands {
			out.WriteString("  " + c.name + strings.Repeat(" ", 14-len(c.name)) + c.summary + "\n")
		}
	}

	if others := others(); len(others) > 0 {
		out.WriteString("\nOther commands installed here:\n  " + strings.Join(others, "\n  ") +
			"\n")
	}

	out.WriteString("\ndpl COMMAND does what dpl-COMMAND does; dpl help COMMAND shows its " +
		"flags.\n")
	return out.String()
}

// others returns the commands that are installed beside dpl or in $PATH but do not come with it.
func others() (names []string) {
	for _, dir := range append(directories(), home()) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}

		for _, e := range entries {
			if name := nameOf(e.Name()); name != e.Name() && !known(name) && isWord(name) {
				if _, err := find(program(name)); err == nil {
					names = append(names, name)
				}
			}
		}
	}

	slices.Sort(names)
	return slices.Compact(names)
}

// isWord reports whether name has only letters, digits and ._+-. Other names could contain escape
// sequences, or code for a shell that completes them.
func isWord(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+-", r) {
			return false
		}
	}
	return name != ""
}

// advice returns a hint for a command that does not exist.
func advice(name string) string {
	candidates := others()
	for _, chapter := range append(slices.Clip(chapters), builtins) {
		for _, c := range chapter.commands {
			candidates = append(candidates, c.name)
		}
	}

	if near := nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return "see dpl help"
}
