//go:build unix

package testscripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var (
	expected  = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )*(?:eventually )?status (\d+) (?:.*[ '/])?(dpl-[a-z]+)\b`)
	succeeded = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )*(?:eventually )?exec (?:.*[ '/])?(dpl-[a-z]+)\b`)
	spawned   = regexp.MustCompile(`(?m)^spawn (\w+) (?:apart )?(dpl-[a-z]+)\b(?s:(.*))`)
)

// neverSeen are statuses that the table has for all commands, and that no state of these makes: dpl-check
// opens no ledger, dpl-doctor reports such files as problems, and dpl-wait waits on beside a held lock.
var neverSeen = []string{"dpl-check 66", "dpl-check 78", "dpl-doctor 65", "dpl-doctor 78", "dpl-wait 75"}

// Each exit status of each command, as its help has them, is expected by a script, which makes the
// state that the status claims. A bug cannot be made, and neverSeen cannot, either.
func TestEveryStatusIsExpected(t *testing.T) {
	t.Parallel()
	bin := built(t)
	scripts, err := filepath.Glob("*/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}

	seen := make(map[string]bool)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range expected.FindAllSubmatch(text, -1) {
			seen[string(m[2])+" "+string(m[1])] = true
		}
		for _, m := range succeeded.FindAllSubmatch(text, -1) {
			seen[string(m[1])+" 0"] = true
		}
		for _, m := range spawned.FindAllSubmatch(text, -1) {
			waited := regexp.MustCompile(`(?m)^waitfor ` + string(m[1]) + ` (\d+)`)
			for _, n := range waited.FindAllSubmatch(m[3], 1) {
				seen[string(m[2])+" "+string(n[1])] = true
			}
		}
	}

	programs, err := filepath.Glob(filepath.Join(bin, "dpl-*"))
	if err != nil || len(programs) == 0 {
		t.Fatal(programs, err)
	}
	for _, program := range programs {
		out, err := exec.Command(program, "--help", "--json").Output()
		var help struct{ ExitStatuses []struct{ Status string } }
		if err == nil {
			err = json.Unmarshal(out, &help)
		}
		if err != nil || len(help.ExitStatuses) == 0 {
			t.Fatalf("%s --help --json: %v: %s", program, err, out)
		}
		for _, s := range help.ExitStatuses {
			name := filepath.Base(program) + " " + s.Status
			if !seen[name] && !slices.Contains(neverSeen, name) && !slices.Contains([]string{"70", "other", "128+N"}, s.Status) {
				t.Errorf("no script expects %s", name)
			}
		}
	}
}
