//go:build unix

package testscripts

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUmbrellaList compares dpl's list of the commands with their own help.
func TestUmbrellaList(t *testing.T) {
	t.Parallel()
	bin := built(t)
	list := output(t, filepath.Join(bin, "dpl"))
	programs, err := filepath.Glob(filepath.Join(bin, "dpl-*"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs in %s: %v", bin, err)
	}

	want := make(map[string]string)
	for _, program := range programs {
		name := strings.TrimPrefix(filepath.Base(program), "dpl-")
		_, text, _ := strings.Cut(output(t, program, "--help"), "\n\n") // behind the usage
		want[name], _, _ = strings.Cut(text, "\n")
	}

	before, _, _ := strings.Cut(list, "\nDpl itself:\n")
	got := make(map[string]string)
	for _, line := range regexp.MustCompile(`(?m)^  (\S+) +(.*)$`).FindAllStringSubmatch(before,
		-1) {
		got[line[1]] = line[2]
	}

	for name, summary := range want {
		if got[name] != summary {
			t.Errorf("dpl says of %s %q, and dpl-%[1]s %[3]q", name, got[name], summary)
		}
	}

	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("dpl lists %s, which there is not", name)
		}
	}
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", program, args, err)
	}
	return string(out)
}
