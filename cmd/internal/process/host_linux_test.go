package process

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"

	"github.com/dpl-project/dpl/protocol/observe"
)

func TestHere(t *testing.T) {
	t.Parallel()
	host := Here()
	bootID, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if want := strings.TrimSpace(string(bootID)); host.BootID != want || err != nil {
		t.Errorf("BootID %q, want %q, %v", host.BootID, want, err)
	}

	var namespace syscall.Stat_t
	err = syscall.Stat("/proc/self/ns/pid", &namespace)
	if want := strconv.FormatUint(namespace.Ino, 10); host.PIDNamespace != want || err != nil {
		t.Errorf("PIDNamespace %q, want %q, %v", host.PIDNamespace, want, err)
	}
	booted := kernelBootTime(t)
	if host.PIDNamespace != observe.FirstPIDNamespace { // as in a container
		first, ok := parseStat(read("/proc/1/stat", make([]byte, 1024)))
		if !ok {
			t.Fatal("process 1 cannot be seen")
		}
		booted = booted.Add(time.Duration(first.startTicks) * tick)
	}
	if d := host.BootedAt.Sub(booted).Abs(); d > 2*time.Second {
		t.Errorf("BootedAt %v is %v from the start of process 1", host.BootedAt, d)
	}
	if host.BootedAt.Location() != time.UTC || host.BootedAt.Nanosecond()%1e6 != 0 {
		t.Errorf("BootedAt %v, want UTC and whole milliseconds", host.BootedAt)
	}

	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if want := hostID(firstOf("/etc/machine-id", "/var/lib/dbus/machine-id"),
		name); host.ID != want {
		t.Errorf("ID %q, want %q", host.ID, want)
	}
}

// kernelBootTime returns btime of /proc/stat, which has whole seconds.
func kernelBootTime(t *testing.T) time.Time {
	t.Helper()
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}

	_, after, _ := strings.Cut(string(content), "\nbtime ")
	line, _, _ := strings.Cut(after, "\n")
	seconds, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	return time.Unix(seconds, 0)
}

func TestHereInTwoProcesses(t *testing.T) {
	t.Parallel()
	var theirs report
	if c := proctest.Start(t, "report"); json.Unmarshal([]byte(c.First), &theirs) != nil {
		t.Fatal(c.First)
	}

	ours := Here()
	if d := ours.BootedAt.Sub(theirs.Host.BootedAt).Abs(); d > time.Second {
		t.Errorf("BootedAt differs by %v", d)
	}

	theirs.Host.BootedAt = ours.BootedAt
	if theirs.Host != ours {
		t.Errorf("they see %+v, we %+v", theirs.Host, ours)
	}
}

func TestFirstOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}

	missing, empty, blank := filepath.Join(dir, "missing"), file("empty", ""), file("blank", " \n")
	one, two := file("one", "1 \n"), file("two", "2")
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{nil, ""},
		{[]string{missing, empty, blank, dir}, ""},
		{[]string{missing, one, two}, "1"},
		{[]string{empty, two, one}, "2"},
		{[]string{blank, two}, "2"},
	} {
		if got := firstOf(c.paths...); got != c.want {
			t.Errorf("firstOf(%q) = %q, want %q", c.paths, got, c.want)
		}
	}
}

func BenchmarkHere(b *testing.B) {
	for b.Loop() {
		Here()
	}
}

// What the first call of a process costs.
func BenchmarkSurroundings(b *testing.B) {
	here.once.Do(surroundings)
	for b.Loop() {
		surroundings()
	}
}
