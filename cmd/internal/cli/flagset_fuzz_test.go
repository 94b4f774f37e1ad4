package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type state string

// every is a command with a flag of each kind, and arguments if it takes them.
type every struct {
	Common
	Word, Text string
	One        state
	Optional   *string
	Many       []string
	Bool       bool
	PID, Count int
	Span       time.Duration
	Args       []string

	takesArgs bool
	ran       bool
}

func (c *every) Define(f *FlagSet) {
	f.String(&c.Word, "word", "WORD", "a word")
	Word(f, &c.One, "one", "STATE", "one of three", "asleep", "awake", "dead")
	f.Text(&c.Text, "text", "a text")
	f.OptionalText(&c.Optional, "optional", "a text")
	f.Strings(&c.Many, "many", "S", "texts")
	f.Short("m")
	f.Bool(&c.Bool, "bool", "a switch")
	f.PID(&c.PID, "pid", "a process")
	f.Count(&c.Count, "count", "a number")
	f.Duration(&c.Span, "span", "a time span", time.Millisecond)
	if c.takesArgs {
		f.CommandLine(&c.Args, "COMMAND", " [-- ARGS]")
	}
}

func (c *every) Run(*Env) error {
	c.ran = true
	return nil
}

// flagSeeds are argument vectors, one argument in a line.
var flagSeeds = []string{
	"", "--help", "-h", "--bool\n--help", "--help=false", "--word\n--help", "--help\n--json", "--json\n-h", "--json=false\n--help", "--one=awake", "--one=", "--one\nAwake", "--\n--help", "--version", "-v\n-n\n--json", "--now=2026-01-01T00:00:00Z",
	"--word=a\n--text\n\n--optional=\n--many=1\n-m\n2\n--bool\n--pid=1\n--count=0\n--span=1m30s\na\nb", "--now\nyesterday", "--sync=disk",
	"--pid=0", "--pid=-1", "--count=-1", "--pid=2147483648", "--pid=0x10", "--count=1e3", "--span=0", "--span=0.001", "--span=1h1", "--span=NaN", "--span=1e400",
	"--text=\xff", "--word=", "--bool=maybe", "--bool=false", "---bool", "-", "--", "--=", "-=a", "--unknown", "--word", "a\n--bool", "--bool\n--\n-x",
	"-bool", "--m=1", "-n=0", "--many\n--many\n--many", "--json\n--nope", "--lock-timeout=-1s", "--ledger=\x00", "--short", "-é", "-nv\n--text\n-nv", "-vn\na\n-nv", "-nm", "-nvh", "-h\n--nope", "--nope\n-h", "--many\n-nv", "-vvn=0",
}

// allAtOnce parses args with package flag as FlagSet.parse does, but with all flags defined.
func (f *FlagSet) allAtOnce(args []string) error {
	set := flag.NewFlagSet("every", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, c := range f.flags {
		c.define(set, c.name)
		if c.short != "" {
			c.define(set, c.short)
		}
	}
	args, err := f.spread(args)
	if err != nil {
		return err
	}
	err = set.Parse(args)
	if err == nil && set.NArg() > 0 {
		if f.arguments == nil {
			return fmt.Errorf("unexpected argument %q", set.Arg(0))
		}
		*f.arguments = set.Args()
		return f.checkArguments()
	}
	return err
}

// FuzzFlags: whatever the arguments are, a command runs, prints its help or version, or exits 64 with one line on stderr;
// and it makes of them what package flag does that knows all flags.
func FuzzFlags(f *testing.F) {
	for _, seed := range flagSeeds {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	for _, variable := range []string{"DPL_NOW", "DPL_SYNC", "DPL_LEDGER"} {
		f.Setenv(variable, "")
	}
	f.Fuzz(func(t *testing.T, lines string, takesArgs bool) {
		args := strings.Split(lines, "\n")
		if lines == "" {
			args = nil
		}
		want := &every{takesArgs: takesArgs, PID: 1}
		var set FlagSet
		want.Define(&set)
		want.CommonFlags().define(&set)
		wantErr := set.allAtOnce(args)

		got := &every{takesArgs: takesArgs, PID: 1}
		var stdout, stderr bytes.Buffer
		env := &Env{Program: "every", Stdout: &stdout, Stderr: &stderr, flags: got.CommonFlags()}
		status := env.run(got, args, "Every", "Details.")
		checkRun(t, got, status, stdout.String(), stderr.String())

		ran := got.ran
		got.ran = false
		switch {
		case errors.Is(wantErr, flag.ErrHelp):
			wantPrefix := "Usage: every"
			if want.JSON || slices.Contains(args, "--json") {
				wantPrefix = "{\n  \"schemaVersion\": 1,\n  \"program\": \"every\","
			}
			if status != StatusOK || !strings.HasPrefix(stdout.String(), wantPrefix) {
				t.Errorf("%q: asks for help: status %d, stdout %q", args, status, stdout.String())
			}
		case wantErr != nil:
			if status != StatusUsage || !strings.Contains(stderr.String(), " --help") {
				t.Errorf("%q: %v: status %d, stderr %q", args, wantErr, status, stderr.String())
			}
		case !reflect.DeepEqual(got, want):
			t.Errorf("%q: got %+v, want %+v", args, got, want)
		case !ran && !want.Version && status != StatusUsage:
			t.Errorf("%q: has not run: status %d", args, status)
		}
	})
}

// checkRun checks what holds whatever the arguments were.
func checkRun(t *testing.T, c *every, status int, stdout, stderr string) {
	t.Helper()
	switch {
	case status == StatusOK && stderr == "" && (c.ran == (stdout == "")):
	case status == StatusUsage && stdout == "" && !c.ran && strings.HasSuffix(stderr, "\n") && (c.JSON || strings.Count(stderr, "\n") == 1):
	default:
		t.Errorf("status %d, ran: %t, stdout %q, stderr %q", status, c.ran, stdout, stderr)
	}
	if !c.ran {
		return
	}
	if c.One != "" && c.One != "asleep" && c.One != "awake" && c.One != "dead" {
		t.Errorf("--one is %q", c.One)
	}
	if c.PID < 1 || c.Count < 0 || c.LockTimeout < 0 || c.Span != 0 && c.Span < time.Millisecond {
		t.Errorf("out of range: %+v", c)
	}
	texts := append(c.Many, c.Text)
	if c.Optional != nil {
		texts = append(texts, *c.Optional)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Errorf("%q was accepted, and is not UTF-8", s)
		}
	}
}

var plainSeconds = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// FuzzParseDuration: bare seconds are seconds, all else is what package time makes of it, and nothing is below the least.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"0", "1", "1.5", ".5", "5.", "-1", "+2", "1m30s", "500ms", "1h", "1e3", "0x10", "1_000", "Inf", "NaN", "", "s", "1 s", "9223372036", "9223372037", "1d", "1w2d3h", "1d-1h", "15250w", "106751d23h47m16s", "106751d24h", "1ns1d", "٣", "0.0000000001"} {
		f.Add(s, int64(time.Millisecond))
		f.Add(s, int64(0))
	}
	f.Fuzz(func(t *testing.T, s string, least int64) {
		if least < 0 {
			return
		}
		got, err := ParseDuration(s, time.Duration(least))
		if err == nil && got < time.Duration(least) {
			t.Errorf("%q: %v is below %v", s, got, time.Duration(least))
		}
		if strings.ContainsAny(s, "wd") {
			return // TestDays has these
		}
		if !plainSeconds.MatchString(s) {
			want, wantErr := time.ParseDuration(s)
			if ok := wantErr == nil && want >= time.Duration(least); ok != (err == nil) || ok && got != want {
				t.Errorf("%q: got %v, %v, want %v, %v", s, got, err, want, wantErr)
			}
			return
		}
		exact, _ := new(big.Rat).SetString(s)
		exact.Mul(exact, big.NewRat(int64(time.Second), 1))
		away := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(int64(got)))
		within := away.Abs(away).Cmp(big.NewRat(2, 1)) <= 0
		inRange := exact.Cmp(new(big.Rat).SetInt64(least+1)) >= 0 && exact.Cmp(new(big.Rat).SetInt64(1<<62)) < 0
		if err == nil && !within || err != nil && inRange {
			t.Errorf("%q, at least %v: got %v, %v", s, time.Duration(least), got, err)
		}
	})
}
