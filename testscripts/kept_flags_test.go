//go:build linux

package testscripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gone has the lines of flags.txt that no longer hold, each with the version that announced it
// under "Deprecated".
var gone = map[string]string{}

// TestKeptFlags checks that commands have the flags, their values and the exit statuses that they
// had in earlier versions (spec/compatibility.md).
func TestKeptFlags(t *testing.T) {
	t.Parallel()
	lists, err := filepath.Glob(filepath.Join(root, "spec/vectors/kept/*/flags.txt"))
	if err != nil || len(lists) == 0 {
		t.Fatalf("no flags are kept: %v", err)
	}

	bin := built(t)
	now := map[string][]string{}
	for _, list := range lists {
		kept, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}

		for line := range strings.Lines(string(kept)) {
			line = strings.TrimSuffix(line, "\n")
			program, _, _ := strings.Cut(line, " ")
			if now[program] == nil {
				now[program] = flagsOf(t, filepath.Join(bin, program))
			}
			if gone[line] == "" && !slices.Contains(now[program], line) {
				t.Errorf("%s: %s: is gone", list, line)
			}
		}
	}
}

// flagsOf returns the lines of flags.txt about a program.
func flagsOf(t *testing.T, program string) (lines []string) {
	t.Helper()
	out, err := exec.Command(program, "--help", "--json").Output()
	if err != nil {
		t.Fatalf("%s --help --json: %v", program, err)
	}

	var help struct {
		Program string
		Flags   []struct {
			Name, Short, Value string
			Values             []string
		}
		ExitStatuses []struct{ Status string }
	}
	if err := json.Unmarshal(out, &help); err != nil {
		t.Fatalf("%s --help --json: %v", program, err)
	}

	for _, f := range help.Flags {
		flag := help.Program + " --" + f.Name
		for _, value := range f.Values {
			lines = append(lines, flag+"="+value)
		}
		if f.Value != "" {
			flag += "="
		}
		lines = append(lines, flag, help.Program+" -"+f.Short)
	}
	for _, s := range help.ExitStatuses {
		lines = append(lines, help.Program+" exits "+s.Status)
	}

	return lines
}
