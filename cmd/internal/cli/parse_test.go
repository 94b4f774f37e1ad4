package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sample is a command with a flag of each kind.
type sample struct {
	Common `embed:""`

	Name    ID       `env:"DPL_OP" placeholder:"ID" required:"" help:"an id"`
	Word    Word     `placeholder:"WORD" help:"a word"`
	Text    *Text    `placeholder:"TEXT" help:"a text"`
	State   string   `default:"" enum:"asleep,awake,dead," placeholder:"STATE" help:"one of three"`
	Many    []Word   `placeholder:"S" help:"words"`
	Process PID      `placeholder:"N" help:"a process"`
	Count   Count    `default:"7" placeholder:"N"`
	Size    Size     `placeholder:"SIZE" help:"a size"`
	Span    Span     `placeholder:"D" help:"a time span"`
	Args    []string `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[-- COMMAND]" help:"a program"`

	ran bool
}

func (c *sample) Run(*Env) error {
	c.ran = true
	return nil
}

// runSample runs the command with args.
func runSample(args ...string) (c *sample, status int, stdout, stderr string) {
	c = new(sample)
	var out, mistakes bytes.Buffer
	env := &Env{Program: "dpl-sample", Stdout: &out, Stderr: &mistakes, flags: c.CommonFlags()}
	env.Session = env.session(false)
	status = env.run(c, args, &manual{"Sample.", "USAGE\n[flags]\n--many S\n\n" +
		"DETAILS\nIt has\ndetails.\n\n" +
		"FLAGS\ncount\n\ta number\n\t(${default})\n\n" +
		"EXIT STATUSES\n0\n1\n\tIt is\n\tfalse.\n128+N\n\tSignal N.\n\n" +
		"EXAMPLES\nTry it,\nand again:\n\n    $ a\n\n    b\n\nIt is over.\n"})
	return c, status, out.String(), mistakes.String()
}

// TestMistakes: a mistake exits 64 and says in one line which flag is wrong, and what to do.
func TestMistakes(t *testing.T) {
	t.Setenv("DPL_OP", "")
	for line, want := range map[string]string{
		"": "--name", "--naem=x": `did you mean "--name"?`, "--name": "--name: it takes a value",
		"--name=":     "--name: bad id: it is empty",
		"--name -- x": "--name: it takes a value", "--name=a --text -- x": "--text: it takes a value",
		"--name=a/b": "--name: bad id", "--name=a --word=": "--word: it is empty",
		"--name=a --word=\xff":        "--word: it is not UTF-8",
		"--name=a --text=\xff":        "--text: it is not UTF-8",
		"--name=a --state=Dead":       "--state: want asleep, awake or dead, not",
		"--name=a --state=":           "--state: it is empty",
		"--name=a --process=0":        "--process: want the number",
		"--name=a --count=-1":         "--count: want a number",
		"--name=a --size=1T":          "--size: want a number of bytes",
		"--name=a --span=0":           "--span: want seconds",
		"--name=a --lock-timeout=-1s": "--lock-timeout: want seconds",
		"--name=a -x":                 "-x", "-name=a": "-", "--name=a --json=maybe": "--json: ",
		"--name=a --many=a --many=": "--many: it is empty",
		"--now=yesterday --name=a":  "--now: a time like",
	} {
		c, status, stdout, stderr := runSample(strings.Fields(line)...)
		if status != StatusUsage || stdout != "" || c.ran || strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, want) || !strings.Contains(stderr, "see dpl-sample --help") {
			t.Errorf("%s: status %d, ran: %v, stdout %q, stderr %q, want %q", line, status, c.ran,
				stdout, stderr, want)
		}
	}

	if _, status, _, stderr := runSample("--name=a", "--", ""); status != StatusUsage ||
		!strings.Contains(stderr, "COMMAND") {
		t.Errorf("an empty COMMAND: status %d, %s", status, stderr)
	}
}

// TestRuns: switches may be put together, and after the first argument nothing is a flag.
func TestRuns(t *testing.T) {
	t.Setenv("DPL_OP", "o")
	t.Setenv("DPL_NOW", "")
	for line, want := range map[string][]string{
		"": nil, "-nv": nil, "-nv a -nv --name=b": {"a", "-nv", "--name=b"}, "-nv -- -nv": {"-nv"},
		"-n -- -- a":   {"--", "a"},
		"--text= -n a": {"a"}, "--text -n a": {"a"}, "-n -": {"-"},
	} {
		c, status, stdout, stderr := runSample(strings.Fields(line)...)
		if status != StatusOK || !c.ran || stdout+stderr != "" || c.Name != "o" || c.Count != 7 ||
			!slices.Equal(c.Args, want) {
			t.Errorf("%s: status %d, %s%s%+v, want the arguments %q", line, status, stdout, stderr,
				c, want)
		}
	}
}

// TestHelpJSON: --help --json, in either order and beside mistakes, prints what --help does.
func TestHelpJSON(t *testing.T) {
	_, status, help, _ := runSample("--help")
	_, _, text, _ := runSample("--json", "-h", "--nope")
	_, _, other, stderr := runSample("--help", "--json")
	if status != StatusOK || text != other || stderr != "" {
		t.Errorf("status %d, %q, got %s, in the other order %s", status, stderr, text, other)
	}

	var got struct {
		SchemaVersion                        int
		Program, Summary, Details, Arguments string
		Usage                                []string
		Flags                                []struct {
			Name, Short, Value, Help, Group string
			Values                          []string
			Repeated                        bool
		}
		ExitStatuses []struct{ Status, Meaning, OfAll string }
		Examples     []struct{ Text, Code string }
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.Program != "dpl-sample" || got.Summary != "Sample." || got.Arguments != "[-- COMMAND]" ||
		got.Flags[0].Name != "name" || got.Details != "It has details." ||
		!slices.Equal(got.Usage, []string{"[flags]", "--many S"}) ||
		fmt.Sprintf("%q", got.Examples) != `[{"Try it, and again:" "$ a\n\nb"} {"It is over." ""}]` ||
		fmt.Sprintf("%q", got.ExitStatuses) != `[{"0" "Done." "Done."} {"1" "It is false." "The `+
			`condition is false or can no longer come true; or a handler failed."} `+
			`{"128+N" "Signal N." ""}]` || got.Flags[19].Group != "Flags of every command" {
		t.Errorf("got %+v", got)
	}

	flat := strings.Join(strings.Fields(help), " ")
	for _, f := range got.Flags {
		want := "--" + f.Name
		if f.Value != "" {
			want += "=" + f.Value
		}
		if !strings.Contains(flat, want+" "+f.Help) || f.Repeated != (f.Name == "many") {
			t.Errorf("%+v: otherwise in the help:\n%s", f, help)
		}
	}

	for _, s := range got.ExitStatuses {
		if !strings.Contains(flat, s.Status+" "+s.Meaning) {
			t.Errorf("status %s: the help does not say %q", s.Status, s.Meaning)
		}
	}

	if len(got.Flags) != 20 {
		t.Errorf("%d flags", len(got.Flags))
	}

	for _, want := range []string{"one of three; STATE is asleep, awake or dead",
		"words; may be repeated", "--sync=none|file|full", "an id ($DPL_OP)", "a number (7)"} {
		if !strings.Contains(flat, want) {
			t.Errorf("the help does not say %q:\n%s", want, help)
		}
	}
}
