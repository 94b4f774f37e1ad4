package entry

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/programs"
)

// TestMain says how it was started if its first argument is say.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "say" {
		os.Exit(programs.Run(m))
	}

	fmt.Println(runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS"))
	Begin()
	UseProcessors()
	fmt.Printf("%q %q %d", os.Args, os.Environ(), runtime.GOMAXPROCS(0))
}

// A program that starts in dpl_entry has one processor, unless its environment says otherwise. It
// has the same arguments and, after Begin, the same environment as any program.
func TestProcessors(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("links this test once more")
	}

	t.Parallel()
	sources, _ := filepath.Glob("*.s")
	for _, path := range sources {
		// Reading them makes go test run this again if one changes.
		if _, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}

	entered := filepath.Join(t.TempDir(), "entered")
	link := exec.Command("go", "test", "-c", "-o", entered, "-ldflags=-E dpl_entry", ".")
	link.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	many := strings.Fields(strings.Repeat("A= B=", 500))
	for i := range many {
		many[i] += fmt.Sprint(i)
	}
	for _, c := range []struct {
		args, environment []string
		first             string
	}{
		{nil, nil, "1 1"},
		{[]string{"x", "", "y z"}, []string{"A=1", "B="}, "1 1"},
		{nil, []string{"A=GOMAXPROCS=3"}, "1 1"},
		{nil, []string{"A=1", "GOMAXPROCS=3", "B=2"}, "3 3"},
		{many, many, "1 1"},
	} {
		say := func(path string) (first, then string) {
			cmd := exec.Command(path)
			cmd.Args = append([]string{"program", "say"}, c.args...)
			cmd.Env = append([]string{}, c.environment...)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			first, then, _ = strings.Cut(string(out), "\n")
			return first, then
		}

		first, then := say(entered)
		if first != c.first {
			t.Errorf("with %.100q: %s, want %s", c.environment, first, c.first)
		}
		if _, want := say(os.Args[0]); then != want {
			t.Errorf("then %.300s\nwant %.300s", then, want)
		}
	}
}
