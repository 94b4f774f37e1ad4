package cli

import (
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/variables"
)

// Exports returns the command by which a shell sets variables, each given as NAME=VALUE, and unsets
// those of our environment that would then belong to another object.
func Exports(set ...string) string {
	command := "export"
	for _, entry := range set {
		name, value, _ := strings.Cut(entry, "=")
		if strings.ContainsAny(value, `/\`) { // a path, and no id
			value = quote(value)
		}
		command += " " + name + "=" + value
	}
	if stale := variables.Stale(os.Environ(), set...); len(stale) > 0 {
		command += "; unset " + strings.Join(stale, " ")
	}
	return command
}

// quote returns s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
