//go:build unix

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// Most of a command's time is its start. So no package of DPL computes anything while it is
// initialised, in any command.
func TestNothingRunsAtInit(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(built(t), "dpl*"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("commands: %q, %v", paths, err)
	}

	slow := regexp.MustCompile(`jsonschema|template|runewidth|x/text|protobuf|^net$|tzdata|^testing`)
	of := regexp.MustCompile(`(?m)^init (\S+) .* (\d+) allocs$`)
	for _, path := range paths {
		c := exec.Command(path, "--version")
		c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", path, err, out)
		}

		traced := of.FindAllStringSubmatch(string(out), -1)
		if len(traced) == 0 {
			t.Fatalf("%s: no trace in %s", path, out)
		}

		for _, line := range traced {
			name := filepath.Base(path)
			if strings.Contains(line[1], "dpl-project/dpl/") && line[2] != "0" {
				t.Errorf("%s: package %s makes %s allocations", name, line[1], line[2])
			}
			if build.Program(name) == "dpl" && slow.MatchString(line[1]) {
				t.Errorf("%s: has package %s, which delays all commands of dpl: link it to dpl-status",
					name, line[1])
			}
		}
	}
}
