//go:build unix

package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// warned is an environment that keeps what it is warned of.
type warned struct {
	quiet
	mu  *sync.Mutex
	all *[]string
}

func (w warned) Warnf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.all = append(*w.all, fmt.Sprintf(format, args...))
}

// checker returns an orchestrator of a new ledger, and what it is warned of.
func checker(t *testing.T) (*Orchestrator, *[]string) {
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), fileops.Config{}, fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := warned{mu: &sync.Mutex{}, all: &[]string{}}
	return New(w, l, "g"), w.all
}

// checked returns a service with a check.
func checked(t *testing.T, id, command string) *group.Service {
	s := &group.Service{ID: id}
	s.StartID = "00000000000000a1"
	s.StartInfo = &group.StartInfo{Command: "x", Dir: t.TempDir()}
	s.StartInfo.Health.Command = []string{"sh", "-c", command}
	return s
}

// At most sixteen checks run at once, and all are run.
func TestChecksAtOnce(t *testing.T) {
	t.Parallel()
	o, warnings := checker(t)
	dir := t.TempDir()
	var due []*group.Service
	for i := range 40 {
		due = append(due, checked(t, fmt.Sprint("s", i), fmt.Sprintf(
			"touch %[1]s/now.$$; ls %[1]s | grep -c now >%[1]s/count.$$; sleep 0.05; rm %[1]s/now.$$", dir)))
	}

	results := o.checkAll(group.Create("g"), due)
	if len(results) != len(due) || len(*warnings) > 0 {
		t.Fatalf("%d results of %d checks: %q", len(results), len(due), *warnings)
	}
	most := 0
	counts, _ := filepath.Glob(dir + "/count.*")
	for _, path := range counts {
		var n int
		text, _ := os.ReadFile(path)
		fmt.Sscan(string(text), &n)
		most = max(most, n)
	}
	if len(counts) != len(due) || most > checksAtOnce || most < 2 {
		t.Errorf("%d checks have run, at most %d at once", len(counts), most)
	}
	for _, r := range results {
		if !r.Passed || r.StartID != "00000000000000a1" {
			t.Errorf("got %+v", r)
		}
	}
}

// A result is the last line of a check that has failed, in a form that harms nobody. A check that
// cannot be run says why.
func TestCheckResults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ command, output, warning string }{
		"succeeds":         {"echo fine", "", ""},
		"leaves a process": {"sleep 60 & echo fine", "", ""},
		"fails":            {"echo one; echo two >&2; exit 3", "two", ""},
		"blank end":        {`printf 'one\r\n\n \n'; exit 1`, "one", ""},
		"says nothing":     {"exit 3", "exit status 3", ""},
		"is killed":        {"kill -9 $$", "signal: killed", ""},
		"escapes":          {`printf 'a\033[31mb\000c'; exit 1`, "a\uFFFD[31mb\uFFFDc", ""},
		"much":             {"head -c 3000000 /dev/zero | tr '\\0' x; exit 1", " more bytes … x", ""},
		"no program":       {"exec no-such-program", "", "no-such-program"},
		"not executable":   {"exec /dev/null", "", "/dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, warnings := checker(t)
			results := o.checkAll(group.Create("g"), []*group.Service{checked(t, "web", tt.command)})
			if tt.warning != "" {
				if len(results) != 1 || len(*warnings) != 1 ||
					!strings.Contains(results[0].CannotRun, tt.warning) ||
					!strings.HasSuffix((*warnings)[0], results[0].CannotRun+": correct --health, or what it needs") {
					t.Fatalf("got %+v, warned of %q", results, *warnings)
				}
				return
			}
			if len(results) != 1 || len(*warnings) > 0 {
				t.Fatalf("got %+v, warned of %q", results, *warnings)
			}
			r := results[0]
			if r.Passed != (tt.output == "") || r.CannotRun != "" ||
				!strings.Contains(r.Output, tt.output) || len(r.Output) > longestOutput {
				t.Errorf("got %+v, want %q", r, tt.output)
			}
		})
	}

	o, warnings := checker(t)
	s := checked(t, "web", "true")
	s.StartInfo.Dir = "/no/such/directory"
	inherits := checked(t, "api", "true")
	inherits.StartInfo.EnvironmentFile = "/no/such/file"
	for _, s := range []*group.Service{s, inherits} {
		results := o.checkAll(group.Create("g"), []*group.Service{s})
		if len(results) != 1 || !strings.Contains(results[0].CannotRun, "/no/such/") ||
			len(results[0].CannotRun) > longestOutput || len(*warnings) != 1 {
			t.Errorf("without its directory, or file: got %+v, warned of %q", results, *warnings)
		}
		*warnings = nil
	}
}
