package cli

import (
	"slices"
	"strings"
	"testing"
)

// Short flags that take nothing may be put together, before the arguments and not where a flag has its value.
func TestSpread(t *testing.T) {
	var f FlagSet
	c := &every{takesArgs: true}
	c.Define(&f)
	c.CommonFlags().define(&f)
	for line, want := range map[string]string{
		"": "", "-nv": "-n -v", "-nvh": "-n -v -h", "--text -nv -vn": "--text -nv -v -n", "-nv a -nv": "-n -v a -nv", "-nv -- -nv": "-n -v -- -nv",
		"--text=x -nv": "--text=x -n -v", "--bool -nv": "--bool -n -v", "-m -nv -nv": "-m -nv -n -v", "-vnv --json": "-v -n -v --json", "-": "-",
		"-h --nope": "-h --nope", "-n=0 -nv": "-n=0 -n -v", "---x": "---x", "-pid 3": "-pid 3",
	} {
		args := strings.Fields(line)
		before := slices.Clone(args)
		got, err := f.spread(args)
		if err != nil || strings.Join(got, " ") != want || !slices.Equal(args, before) {
			t.Errorf("%s: got %q, %v; the arguments are %q", line, got, err, args)
		}
	}
	for line, want := range map[string]string{
		"--dryrun": "did you mean --dry-run?", "--jsn": "did you mean --json?", "-verbos": "did you mean --verbose?", "--hlep": "did you mean --help?",
		"--ldeger=x": "did you mean --ledger?", "-nm": `no such flag: "-nm": -m takes a value, so it stands alone`, "--nv": `no such flag: "--nv"`, "-nvx": `no such flag: "-nvx": there is no -x`,
		"-xn":       `no such flag: "-xn"`,
		"--no-such": `no such flag: "--no-such"`, "-n --dry": "no such flag",
	} {
		if _, err := f.spread(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}
