package process

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// after is fields 3 to 22 of a line of /proc/PID/stat.
const after = "S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18 4711"

func TestParseStat(t *testing.T) {
	want := stat{state: 'S', parent: 2, threads: 13, startTicks: 4711}
	for _, name := range []string{"sh", "", "a b", ") ( \n",
		") R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", "((("} {
		for _, end := range []string{"", " 23 24 25"} {
			line := "1 (" + name + ") " + after + end
			if got, ok := parseStat([]byte(line)); got != want || !ok {
				t.Errorf("%q: got %+v, %t, want %+v", line, got, ok, want)
			}
		}
	}
}

func TestExitSignal(t *testing.T) {
	for end, want := range map[string]int{"": 0, " 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37": 0,
		" 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 17 39": 17,
		" 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 -1 39": -1} {
		if got, ok := parseStat([]byte("1 (sh) " + after + end)); got.exitSignal != want || !ok {
			t.Errorf("%q: got %+v, %t, want %d", end, got, ok, want)
		}
	}
}

func TestStatLives(t *testing.T) {
	for _, c := range []struct {
		state  byte
		signal int
		want   bool
	}{
		{'S', 17, true}, {'T', 17, true}, {'D', 17, true},
		{'S', -1, false}, // a thread
		{'S', 0, false},  // not known
		{'Z', 17, false}, {'X', 17, false},
	} {
		if got := (stat{state: c.state, threads: 1, exitSignal: c.signal}).lives(); got != c.want {
			t.Errorf("state %c, exit signal %d: lives %t", c.state, c.signal, got)
		}
	}
}

func TestParseStatRefuses(t *testing.T) {
	for _, line := range []string{
		"",
		"1",
		"1 (sh)",
		"1 sh " + after,
		"1 s " + after,
		"1 (sh) ",
		"1 (sh) SS 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18 4711",
		"1 (sh) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18",
		"1 (sh) S x 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18 4711",
		"1 (sh) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 x 18 4711",
		"1 (sh) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18 x",
		"1 (sh) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 13 18 9223372036854775808",
	} {
		if got, ok := parseStat([]byte(line)); ok || got != (stat{}) {
			t.Errorf("%q: got %+v, %t, want nothing", line, got, ok)
		}
	}
}

func TestStatEnded(t *testing.T) {
	for _, c := range []struct {
		state   byte
		threads int
		want    bool
	}{
		{'R', 1, false}, {'S', 2, false}, {'T', 1, false}, {'D', 1, false},
		{'Z', 1, true}, {'X', 1, true},
		{'Z', 2, false}, {'X', 2, false}, // a main thread that exited first, or is replaced in execve
		{'X', 0, false}, // removed while it was read: only the kernel's answer for the number counts
	} {
		if got := (stat{state: c.state, threads: c.threads}).ended(); got != c.want {
			t.Errorf("state %c, %d threads: ended %t, want %t", c.state, c.threads, got, c.want)
		}
	}
}

// Whatever the name of a process, the fields are those that the kernel wrote after it.
func FuzzParseStat(f *testing.F) {
	f.Add("sh", byte('S'), 1, int64(4711))
	f.Add(") Z 1 (", byte('R'), 7, int64(0))
	f.Fuzz(func(t *testing.T, name string, state byte, threads int, start int64) {
		want := stat{state: 'A' + state%26, parent: 4, threads: threads, startTicks: start}
		line := fmt.Sprintf("7 (%s) %c 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 %d 21 %d 23", name,
			want.state, threads, start)
		if got, ok := parseStat([]byte(line)); got != want || !ok {
			t.Errorf("%q: got %+v, %t, want %+v", line, got, ok, want)
		}
		if got, ok := parseStat([]byte(name)); ok && !agrees(name, got) {
			t.Errorf("%q: got %+v", name, got)
		}
	})
}

// agrees reports whether the words after the last parenthesis of line are as in s.
func agrees(line string, s stat) bool {
	words := strings.Split(line[strings.LastIndexByte(line, ')')+1:], " ")
	if len(words) < 21 || words[1] != string([]byte{s.state}) {
		return false
	}
	parent, err0 := strconv.ParseInt(words[2], 10, 64)
	threads, err := strconv.ParseInt(words[18], 10, 64)
	start, err2 := strconv.ParseInt(words[20], 10, 64)
	return err0 == nil && err == nil && err2 == nil && int(parent) == s.parent &&
		int(threads) == s.threads && start == s.startTicks
}
