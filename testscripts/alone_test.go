//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
)

// Each command is also a program of its own, as go install makes it: it has the same help as the
// link, and starts what it starts without any other.
func TestAlone(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*"))
	if err != nil || len(dirs) < 20 {
		t.Fatal(dirs, err)
	}

	bin := t.TempDir()
	var names []string
	for _, dir := range dirs {
		names = append(names, filepath.Base(dir))
	}
	if err := build.Alone(bin, root, names); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		alone, err := exec.Command(filepath.Join(bin, name), "--help").Output()
		if err != nil {
			t.Fatalf("%s --help: %v", name, err)
		}
		link, err := exec.Command(filepath.Join(built(t), name), "--help").Output()
		if err != nil || string(alone) != string(link) {
			t.Errorf("%s --help is not the same as that of the link: %v", name, err)
		}
	}

	script := `set -e
dpl-register --group g --service s -- sleep 600
dpl-status --group g --check healthy
dpl-run --op a -- true
dpl-run --op b -- sh -c 'kill -9 $PPID; sleep 600' & wait $! && exit 1
dpl-wait --op b --for terminal --timeout 30s
dpl-status --op b --check failed
dpl-shutdown --group g --service s --wait
`
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DPL_LEDGER="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
}
