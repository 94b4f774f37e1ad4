// Package lanes tests that the fast lane of package cli makes of arguments what kong does.
package lanes

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

var variables = []string{
	"DPL_OP", "DPL_CALL", "DPL_PARTICIPANT", "DPL_GROUP", "DPL_SUPERVISOR", "DPL_SERVICE",
	"DPL_LEDGER", "DPL_SYNC", "DPL_NOW", "DPL_QUEUE", "DPL_TASK", "DPL_EPOCH",
}

// Fuzz compares the fast lane with kong for the command program; zero returns a new one. Kong must accept whatever the fast lane accepts, with the same result. The seed corpus
// has the arguments that the scripts in testscripts give to the command, one per line; environment
// has the values of the variables in the same form.
func Fuzz(f *testing.F, program string, zero func() cli.Command) {
	seeds := scripted(f, program)
	taken := 0

	for _, args := range seeds {
		args = cli.Led(zero(), args)
		f.Add(strings.Join(args, "\n"), "")
		f.Add(strings.Join(args, "\n"), strings.Repeat("o\n", 6)+"/l")
		f.Add(strings.Join(args, "\n"), strings.Repeat("o\n", 6)+"/other\n\n\no\no\n1")
		for _, v := range variables {
			f.Setenv(v, "o")
		}

		f.Setenv("DPL_LEDGER", "/l")
		f.Setenv("DPL_EPOCH", "1")
		f.Setenv("DPL_SYNC", "")
		f.Setenv("DPL_NOW", "")
		if cli.FastLane(zero(), args) {
			taken++
		}
	}

	if taken*2 < len(seeds) || taken == 0 {
		f.Errorf("the fast lane takes %d of %d lists of arguments", taken, len(seeds))
	}

	f.Fuzz(func(t *testing.T, lines, environment string) {
		values := strings.Split(environment, "\n")
		for i, v := range variables {
			value := ""
			if i < len(values) && !strings.Contains(values[i], "\x00") {
				value = values[i]
			}
			t.Setenv(v, value)
		}

		args := strings.Split(lines, "\n")
		if lines == "" {
			args = nil
		}

		got := zero()
		if !cli.FastLane(got, args) {
			return
		}

		want := zero()
		if err := cli.Kong(want, program, args); err != nil {
			t.Errorf("%q: the fast lane takes them, kong says: %v", args, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", args, got, want)
		}
	})
}

// root is that of the module, seen from the folder of a command.
const root = "../../../.."

// scripted returns the arguments that scripts give to program.
func scripted(f *testing.F, program string) (all [][]string) {
	scripts, err := filepath.Glob(root + "/testscripts/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}

	line := regexp.MustCompile(`(?m)^(?:exec|status \d+|timed \S+) (?:apart )?` + program + `( [^&\n]*)?`)
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, found := range line.FindAllStringSubmatch(string(text), -1) {
			all = append(all, words(strings.NewReplacer("$WORK", "/w", "$DPL_LEDGER", "/l",
				"$HOLDER", "1", "$Q", "q").Replace(found[1])))
		}
	}

	if len(all) == 0 {
		f.Fatalf("no script calls %s", program)
	}

	return all
}

// words splits a line of a script, in which ' quotes.
func words(line string) (all []string) {
	word, quoted, inWord := "", false, false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			quoted, inWord = !quoted, true
		case r != ' ' || quoted:
			word, inWord = word+string(r), true
		case inWord:
			all = append(all, word)
			word, inWord = "", false
		}
	}
	return all
}
