package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/group"
)

func TestIsFull(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{nil: false, os.ErrNotExist: false,
		&os.PathError{Err: syscall.ENOSPC}: true, errors.Join(os.ErrInvalid, syscall.EDQUOT): true} {
		if got := IsFull(err); got != want {
			t.Errorf("%v: got %t", err, got)
		}
	}
}

// TestShortenLogs cuts the logs that are too large, on the disk of the ledger, and no other.
func TestShortenLogs(t *testing.T) {
	t.Parallel()
	l, err := Create(filepath.Join(t.TempDir(), "ledger"), Config{}, Options{})
	must(t, err)
	g := group.Group{ID: "g"}
	add := func(id string, limit int64, size int, elsewhere int64) {
		path, file, err := l.LogFile("g", id)
		must(t, err)
		must(t, os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
		file.Device += elsewhere
		s := group.Service{ID: id}
		s.LogFile, s.StartInfo = file, &group.StartInfo{LogMax: limit}
		g.Registry.Services = append(g.Registry.Services, s)
	}
	const large = 4 * disk.CutUnit
	add("large", disk.CutUnit, large, 0)
	add("small", disk.CutUnit, disk.CutUnit, 0)
	add("unlimited", 0, large, 0)
	add("elsewhere", disk.CutUnit, large, 1)
	add("link", disk.CutUnit, large, 0)
	g.Registry.Services = append(g.Registry.Services, group.Service{ID: "itself"})
	path := l.LogPath("g", "link")
	must(t, os.Rename(path, path+".moved"))
	must(t, os.Symlink(path+".moved", path))
	must(t, os.Truncate(path+".moved", large))

	cuts, err := l.ShortenLogs(g)
	if len(cuts) == 0 || cuts[0].ServiceID != "large" || cuts[0].Bytes < large-disk.CutUnit ||
		slices.ContainsFunc(cuts, func(c group.LogCut) bool {
			return c.ServiceID != "large" && c.ServiceID != "link"
		}) {
		t.Errorf("got %v, %v", cuts, err)
	}
	for id, want := range map[string]int64{"small": disk.CutUnit, "unlimited": large, "elsewhere": large} {
		if info, err := os.Stat(l.LogPath("g", id)); err != nil || info.Size() != want {
			t.Errorf("%s: got %v, %v", id, info, err)
		}
	}
	if info, err := os.Stat(path + ".moved"); err != nil || info.Size() != large {
		t.Errorf("through a link: got %v, %v", info, err)
	}
}

// TestShortenLogsOfNoLedger has a ledger that is gone.
func TestShortenLogsOfNoLedger(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	l, err := Create(dir, Config{}, Options{})
	must(t, err)
	must(t, os.RemoveAll(dir))
	if cuts, err := l.ShortenLogs(group.Group{ID: "g"}); err == nil || cuts != nil {
		t.Errorf("got %v, %v", cuts, err)
	}
}
