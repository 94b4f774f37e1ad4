package register

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/group"
)

// environment returns the environment for COMMAND, the same from whichever pass starts it: the
// recorded variables, and then given, the values of --env. The last value for a name counts.
func environment(given []cli.Word) ([]group.Variable, error) {
	var all []group.Variable
	for _, name := range append(group.RecordedVariables(), localeNames()...) {
		if value, set := os.LookupEnv(name); set {
			all = append(all, group.Variable{Name: name, Value: value})
		}
	}

	for _, v := range given {
		name, value, ok := strings.Cut(string(v), "=")
		if name == "" {
			return nil, cli.Usagef("--env: want NAME=VALUE, or NAME for the value it has now, not "+
				"%q", v)
		}

		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, cli.Usagef("--env %s: it is not set: give %s=VALUE", name, name)
			}
		}

		all = slices.DeleteFunc(all,
			func(other group.Variable) bool { return other.Name == name })
		all = append(all, group.Variable{Name: name, Value: value})
	}

	for _, v := range all {
		if err := cli.CheckText(v.Name + v.Value); err != nil {
			return nil, cli.Usagef("$%s: %v: give --env %s=VALUE", v.Name, err, v.Name)
		}
	}

	return all, nil
}

// envFile is the path of an environment file (spec §11.6).
type envFile string

// UnmarshalText parses text.
func (f *envFile) UnmarshalText(text []byte) error {
	switch {
	case len(text) == 0:
		return cli.Usagef("want the path of a file, not nothing: is a variable not set?")
	case !filepath.IsAbs(string(text)):
		return cli.Usagef("want an absolute path, which every pass finds, not %q", text)
	}
	*f = envFile(text)
	return cli.CheckText(string(text))
}

// localeNames returns the names of the LC_* variables that are set, sorted.
func localeNames() (names []string) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); group.IsLocale(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
