package logs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

func shortenLog(l *fileops.Ledger, id string, limit int64) (int64, error) {
	log, err := l.ServiceLog("g", id, nil)
	if err != nil {
		return 0, err
	}
	return log.Shorten(limit)
}

// TestShorten makes room without a copy: .1 stays, and the end of the log where it can be cut.
func TestShorten(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(call, path string) error{"cut": nil,
		"truncated": withoutCut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if before == nil {
				needsCut(t)
			}

			l, h := hookedLedger(t)
			w := newLogWriter(t, l, "s")
			w.write(20_000)
			path := l.LogPath("g", "s")
			writeFile(t, layout.RotatedLogOf(path, 1), "newest\n")
			writeFile(t, layout.RotatedLogOf(path, 2), "older\n")
			writeFile(t, layout.CompressedLogOf(path, 7), zipped(t, "oldest\n", ""))
			writeFile(t, layout.NextCompressedOf(path), "begun")
			writeFile(t, layout.NextLogOf(path), w.text.String()[:100]) // of a pass that died before the cut
			h.Before = func(call, path string) error {
				if call == "create" || call == "create unnamed" || call == "write" {
					t.Errorf("%s %s", call, path)
				}
				if before != nil {
					return before(call, path)
				}
				return nil
			}

			size := int64(w.text.Len())
			cut, err := shortenLog(l, "s", logLimit)
			must(t, err)
			text := logText(t, l)
			if rest, is := strings.CutPrefix(text, "newest\n"); !is || int64(len(rest)) != size-cut ||
				!strings.HasSuffix(w.text.String(), rest) {
				t.Errorf("%d of %d bytes were cut, and %d are left", cut, size, len(text))
			} else if before == nil && (len(rest) > logLimit || len(rest) < logLimit-disk.CutUnit) {
				t.Errorf("%d bytes are left", len(rest))
			} else if before != nil && rest != "" {
				t.Errorf("%d bytes are left of a log that cannot be cut", len(rest))
			}
			wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1")
			if again, err := shortenLog(l, "s", logLimit); again != 0 || err != nil {
				t.Errorf("again: got %d, %v", again, err)
			}
		})
	}
}

// TestShortenRefused has logs of which nothing is cut.
func TestShortenRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	if cut, err := shortenLog(l, "none", logLimit); cut != 0 || err != nil {
		t.Errorf("got %d, %v of no log", cut, err)
	}

	w := newLogWriter(t, l, "s")
	w.write(20_000)
	path := l.LogPath("g", "s")
	writeFile(t, layout.RotatedLogOf(path, 2), "older\n")
	lock, err := disk.OS{}.Lock(path, 0, nil)
	must(t, err)
	if cut, err := shortenLog(l, "s", logLimit); cut != 0 || err != nil {
		t.Errorf("got %d, %v while another has the lock", cut, err)
	}
	must(t, lock.Unlock())
	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.2")

	for _, call := range []string{"cut", "open append", "remove"} {
		h.Before = nil
		writeFile(t, layout.RotatedLogOf(path, 2), "older\n")
		w.write(20_000)
		h.Before = hookfs.Nth(t, 1, call, "", hookfs.Broken)
		cut, err := shortenLog(l, "s", logLimit)
		if !errors.Is(err, hookfs.ErrDisk) || call == "cut" && cut != 0 {
			t.Errorf("%s: got %d, %v of a broken disk", call, cut, err)
		}
	}
}
