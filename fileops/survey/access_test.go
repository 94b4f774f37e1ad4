package survey

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
)

// locked is a file system in which this user may use nothing.
type locked struct{ disk.FS }

func (l locked) Access(string, uint32) error { return syscall.EACCES }

func (l locked) Within(dir string, check func(string, disk.Info) error) disk.FS {
	return locked{l.FS.Within(dir, check)}
}

// Everything that commands open is named if they may not, with the remedy; and nothing else is.
func TestInspectWithoutAccess(t *testing.T) {
	t.Parallel()
	l, _ := surveyed(t, fileops.Config{})
	ours := []string{"queues/tasks/q/a~1.log", "logs/g/s.log", "logs/g/s.log.2.gz",
		"exits/g/s~0123456789abcdef.json",
		"restarts/g/s~0123456789abcdef.json"}
	plant(t, l.Dir(), ours...)
	plant(t, l.Dir(), "queues/tasks/file", "logs/g/strange", "exits/g/strange", "restarts/g/strange",
		"notes/strange", "failures/strange")

	plant(t, l.Dir(), "exits/file", "queues/tasks/q/strange", "failures/f.lock", "operations/live.audit.0001.jsonl",
		"operations/live.audit.jsonl")
	if err := os.Symlink(l.Dir(), filepath.Join(l.LogsDir(), "link")); err != nil {
		t.Fatal(err)
	}

	s, err := Inspect(l.Dir(), fileops.Options{FS: locked{disk.OS{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(ours, "ledger.json", "operations", "queues/tasks/q", "logs/g", "notes") {
		f := s.found(t, name)
		if !errors.Is(f.Distrust, fs.ErrPermission) ||
			!strings.Contains(f.Distrust.Error(), filepath.Join(l.Dir(), name)+": ") ||
			!strings.Contains(f.Distrust.Error(), ": chmod u+r") {
			t.Errorf("%s: got %v", name, f.Distrust)
		}
	}
	for _, f := range s.Files {
		if strings.HasSuffix(f.Path, "strange") && f.Distrust != nil {
			t.Errorf("%s: got %v, want nothing", f.Path, f.Distrust)
		}
	}
}
