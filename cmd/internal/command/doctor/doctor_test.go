package doctor

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/survey"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/programs"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// expectLevel checks the level of the first finding (ok if there is none) and that its text
// contains says.
func expectLevel(t *testing.T, found []finding, want level, says string) {
	t.Helper()
	got := finding{level: ok}
	if len(found) > 0 {
		got = found[0]
	}
	if got.level != want || !strings.Contains(got.line(), says) {
		t.Errorf("got %s: %s; want %s: %s", got.level, got.line(), want, says)
	}
	if want == problem && got.cure == "" {
		t.Errorf("%s has no cure", got.line())
	}
}

func TestPlacement(t *testing.T) {
	for _, tt := range []struct {
		network, commit string
		want            level
		says            string
	}{
		{"", "rename", ok, "only this machine"},
		{"", "link", ok, "by link"},
		{"", "", ok, "only this machine"},
		{"nfs", "link", ok, "several hosts can use the file system (nfs)"},
		{"nfs", "rename", problem, `"commit": "link"`},
		{"fuse.sshfs", "link", problem, "shares no locks"},
		{"fuse.sshfs", "rename", problem, "shares no locks"},
	} {
		t.Run(tt.network+" "+tt.commit,
			func(t *testing.T) {
				expectLevel(t, []finding{placement(tt.network, tt.commit)},
					tt.want, tt.says)
			})
	}
}

func TestLasting(t *testing.T) {
	for _, tt := range []struct {
		on   keep
		want level
		says string
	}{
		{onDisk, ok, ""}, {inMemory, note, "tmpfs"}, {onOverlay, note, "use a volume"},
		{onVolatile, note, "fsync does nothing"},
	} {
		expectLevel(t, lasting(tt.on), tt.want, tt.says)
	}
}

func TestVolume(t *testing.T) {
	for _, tt := range []struct {
		volume  volume
		largest uint64
		want    level
		says    string
	}{
		{volume{free: 1 << 30, inodes: 5000, ofThem: 9000}, 1 << 10, ok,
			"1024 MiB and 5000 inodes"},
		{volume{free: 1 << 30}, 1 << 10, ok, "1024 MiB are free"},
		{volume{free: 10 * mebibyte, inodes: 5000, ofThem: 9000}, 1 << 10, warning, "10 MiB"},
		{volume{free: 10 * mebibyte}, 9 * mebibyte, warning, "10 MiB"},
		{volume{free: 10 * mebibyte}, 10 * mebibyte, problem, "10 MiB"},
		{volume{free: 1015808}, 1 << 10, warning, "1015808 bytes"},
		{volume{free: 1000}, 0, problem, "1000 bytes"},
		{volume{free: 1 << 30, inodes: 999, ofThem: 9000}, 0, warning, "999 inodes"},
		{volume{free: 1 << 30, inodes: 3, ofThem: 9000}, 0, warning, "3 inodes"},
		{volume{free: 1 << 30, inodes: 0, ofThem: 9000}, 0, problem, "0 inodes"},
		{volume{free: 1 << 30, readOnly: true}, 0, problem, "read-only"},
	} {
		expectLevel(t, []finding{tt.volume.judge(tt.largest)}, tt.want, tt.says)
	}

	for _, tt := range []struct {
		volume volume
		want   level
		says   string
	}{
		{volume{free: 1 << 30, inodes: 1, ofThem: 9000}, ok, "logs: 1024 MiB and 1 inodes"},
		{volume{free: 10 * mebibyte}, warning, "logs: only 10 MiB"},
		{volume{free: 1000}, problem, "logs: only 1000 bytes"},
		{volume{free: 1 << 30, inodes: 0, ofThem: 9000}, problem, "0 inodes"},
		{volume{free: 1 << 30, readOnly: true}, problem, "logs: the file system is mounted read-only"},
	} {
		expectLevel(t, []finding{tt.volume.judgeLogs("logs")}, tt.want, tt.says)
	}
}

func TestReplaceable(t *testing.T) {
	for _, tt := range []struct {
		uid  int
		mode fs.FileMode
		want string
	}{
		{0, 0o755, ""}, {1000, 0o700, ""}, {0, 0o777 | fs.ModeSticky, ""},
		{0, 0o777, "mode 0777"}, {1000, 0o775, "mode 0775"}, {1001, 0o755, "uid 1001"},
	} {
		got := replaceable(disk.Info{UID: tt.uid, Mode: fs.ModeDir | tt.mode}, 1000)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("uid %d, mode %v: got %q, want %q", tt.uid, tt.mode, got, tt.want)
		}
	}
}

func TestAhead(t *testing.T) {
	for _, tt := range []struct {
		by     time.Duration
		linked bool
		want   level
	}{
		{-time.Hour, false, ok}, {10 * time.Second, false, ok},
		{10*time.Second + 1, false, problem}, {time.Hour, true, warning},
	} {
		s := stamp{object: "x", at: now.Add(tt.by), threshold: 10 * time.Second}
		expectLevel(t, checkFutureTimes(s, now, tt.linked), tt.want, "")
	}
}

// The heartbeat was at 100 s of the monotonic clock, which now shows 160 s.
func TestStepped(t *testing.T) {
	beat := observe.Beat{BootID: "b", MonotonicMs: 100_000, At: now}
	s := stamp{object: "x", at: now, beat: beat, threshold: 10 * time.Second}
	for _, tt := range []struct {
		wall, suspended time.Duration
		want            level
		says            string
	}{
		{time.Minute, 0, ok, ""},
		{time.Hour + time.Minute, time.Hour, ok, ""},
		{time.Hour + time.Minute, 0, note, "set on by 1h0m"},
		{-time.Hour, 0, note, "set back by 1h1m"},
		{-time.Hour, 2 * time.Hour, note, "set back by 1h1m"},
	} {
		seen := observe.Observation{Now: now.Add(tt.wall), MonotonicMs: 160_000}
		expectLevel(t, checkClockStep(s, seen, tt.suspended), tt.want, tt.says)
	}

	// no monotonic clock
	expectLevel(t, checkClockStep(s, observe.Observation{Now: now.Add(time.Hour)}, 0), ok, "")

	// The extreme times and durations that a file can hold do not overflow into the other
	// direction.
	seen := observe.Observation{Now: now.Add(time.Hour), MonotonicMs: 160_000}
	s.threshold = math.MaxInt64
	expectLevel(t, checkClockStep(s, seen, time.Hour), ok, "")
	s.threshold, s.at = 10*time.Second, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	expectLevel(t, checkClockStep(s, seen, 0), note, "set back by 7300 days")
}

func TestKnown(t *testing.T) {
	host := observe.Host{ID: "h", BootID: "b", PIDNamespace: observe.FirstPIDNamespace, BootedAt: now}
	identity := observe.Process{PID: 1, HostID: "h", BootID: "b",
		PIDNamespace: observe.FirstPIDNamespace, StartTicks: 1}
	hidden := observe.Process{PID: 1}
	inside, shifted := host, host
	inside.PIDNamespace, shifted.BootedAt = "4026532000", time.Time{}

	for _, tt := range []struct {
		name        string
		host        observe.Host
		self, first observe.Process
		want        level
		says        string
	}{
		{"all", host, identity, identity, ok, ""},
		{"no /proc", observe.Host{ID: "h"}, hidden, hidden, warning, "there is no /proc"},
		{"time namespace", shifted, hidden, hidden, warning, "time namespace"},
		{"another's /proc", host, hidden, hidden, warning, "another pid namespace"},
		{"container", inside, identity, identity, note, "container"},
		{"hidepid", host, identity, hidden, note, "hidepid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expectLevel(t, known(tt.host, tt.self, tt.first),
				tt.want, tt.says)
		})
	}
}

func TestTight(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		want     level
		says     string
	}{
		{1500 * time.Millisecond, ok, ""}, {3999 * time.Millisecond, ok, ""},
		{4 * time.Second, warning, "--staleness 11s"},
		{9 * time.Second, warning, "--staleness 23.5s"},
		{math.MaxInt64 / 4, warning, "--staleness 438000h0m1s"},
		{math.MaxInt64, warning, "--staleness 438000h0m1s"},
	} {
		expectLevel(t, checkMargin("x", tt.interval, 10*time.Second, "--staleness"), tt.want,
			tt.says)
		least := min(tt.interval, math.MaxInt64/5)
		expectLevel(t, checkMargin("x", least, math.MaxInt64, "--staleness"), ok, "")
	}
}

func TestRare(t *testing.T) {
	rare := func(period time.Duration, state group.ServiceState) group.Group {
		g := group.Create("g")
		g.Orchestrator.Heartbeat, g.Orchestrator.Period = now, period
		g.Orchestrator.State = group.OrchestratorRunning
		g.Registry.Services = []group.Service{{ID: "s",
			ServiceStatus: group.ServiceStatus{State: state}}}
		return g
	}

	at := func(d time.Duration) observe.Observation { return observe.Observation{Now: now.Add(d)} }
	expectLevel(t, checkPasses(rare(2*time.Second, group.StateRunning), at(time.Second)), ok,
		"")
	expectLevel(t, checkPasses(rare(time.Minute, group.StateRunning), at(time.Second)), warning,
		"--staleness 2m30s")
	expectLevel(t, checkPasses(rare(2*time.Second, group.StateRunning), at(4*time.Minute)), ok,
		"")
	expectLevel(t, checkPasses(rare(2*time.Second, group.StateRunning), at(6*time.Minute)),
		warning, "no pass has run for 6m")
	expectLevel(t, checkPasses(rare(2*time.Second, group.StateStopped), at(6*time.Minute)), ok,
		"")
}

// Each way in which a lock may fail is found.
func TestExclude(t *testing.T) {
	nothing := func() error { return nil }
	var lock disk.Lock
	holds := func(path string) (string, func() error, error) {
		var err error
		if lock, err = survey.TryLock(path); err != nil {
			return refused, nothing, nil
		}
		return held, func() error { return lock.Unlock() }, nil
	}

	says := func(words ...string) starter {
		return func(string) (string, func() error, error) {
			word := words[0]
			words = words[1:]
			return word, nothing, nil
		}
	}

	immortal := func(path string) (string, func() error, error) {
		said, _, err := holds(path)
		return said, nothing, err
	}

	for _, tt := range []struct {
		name, want string
		start      starter
	}{
		{"sound", "", holds},
		{"gets what is held", "another process gets the lock", says(held)},
		{"does not get what is free", "does not get a lock that is free", says(refused, refused)},
		{"does not keep out", "this process gets the lock", says(refused, held)},
		{"outlives its holder", "still held", immortal},
		{"no locks", "no locks available", says("no locks available")},
		{"no process", "no process", func(string) (string, func() error, error) {
			return "", nil, errors.New("no process")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			err := exclude(path, tt.start)
			if (err == nil) != (tt.want == "") || err != nil &&
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}

			if free, err := survey.TryLock(path); err == nil {
				free.Unlock()
			} else if tt.name != "outlives its holder" {
				t.Errorf("a lock is left: %v", err)
			}
		})
	}

	lock.Unlock()
}

func TestMain(m *testing.M) {
	holdLock()
	os.Exit(programs.Run(m))
}

func TestExcludeWithProcesses(t *testing.T) {
	if err := exclude(filepath.Join(t.TempDir(), "lock"), startHelper); err != nil {
		t.Error(err)
	}
}

func TestTable(t *testing.T) {
	findings := []finding{
		{check: "lock", level: ok, text: "well"},
		{check: "leftovers", level: warning, object: strings.Repeat("x", 30),
			text: strings.Repeat("word ", 10) + "end", cure: "cure it"},
	}

	const short = "ok       lock         well\n"
	long := "warning  leftovers    " + strings.Repeat("x", 30) + ": word word word word word"
	if got, want := string(table(findings, false, 79)), short+long+"\n"+strings.Repeat(" ",
		22)+"word word word word word end: cure it\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got, want := string(table(findings, true,
		0)), long+" word word word word word end: cure it\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 90 * time.Second: "2m",
		time.Hour: "1h0m", 26*time.Hour + 5*time.Minute: "26h5m", 49 * time.Hour: "2 days",
	} {
		if got := span(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
