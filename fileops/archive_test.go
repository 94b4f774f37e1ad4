package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
)

// archiveAs writes copies that were edited so long before now. Those in state are operations.
func archiveAs(t *testing.T, l *Ledger, now time.Time, state protocol.State,
	ages map[string]time.Duration) {
	t.Helper()
	op := protocol.Create("op", "", 0, 0)
	op.Revision, op.State, op.LastHeartbeat = 2, state, now
	for name, age := range ages {
		path := filepath.Join(l.ArchiveDir(), name)
		text := "x"
		if state != "" {
			text = op.Encode()
		}
		writeFile(t, path, text)
		must(t, os.Chtimes(path, now, now.Add(-age)))
	}
}

// wantArchive returns an error unless the archive has exactly these files.
func wantArchive(t *testing.T, l *Ledger, wanted ...map[string]time.Duration) {
	t.Helper()
	missing := make(map[string]bool)
	for _, names := range wanted {
		for name := range names {
			missing[name] = true
		}
	}
	for _, name := range filesIn(t, l.ArchiveDir()) {
		if !missing[name] {
			t.Errorf("%s should have gone", name)
		}
		delete(missing, name)
	}
	if len(missing) > 0 {
		t.Errorf("gone: %v", missing)
	}
}

func TestPruneArchive(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	now := time.Now()
	ages := map[string]time.Duration{"young.json": 59 * time.Minute, "edge.json": time.Hour,
		"twice.json": 90 * time.Minute, "twice~2.json": 80 * time.Minute, "twice~3.json": time.Minute, "notes.txt": 99 * time.Hour}
	for i := range keepCopies { // so many that what is older stays for its hour alone
		ages["n"+string(rune('a'+i))+".json"] = time.Duration(i) * time.Second
	}

	archiveAs(t, l, now, "", ages)
	must(t, l.PruneArchive(now))
	delete(ages, "edge.json")
	delete(ages, "twice~2.json")
	wantArchive(t, l, ages)
}

// What failed stays for 7 days, whatever completes after it, and does not take the place of what
// completed.
func TestPruneArchiveKeepsFailures(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []Config{{}, linkedConfig} {
		l := testLedger(t, c, Options{})
		now := time.Now()
		completed := map[string]time.Duration{"done.json": 9 * day, "done~2.json": 8 * day}
		for i := range keepCopies - 2 {
			completed[fmt.Sprint("c", i, ".json")] = time.Duration(i) * day
		}
		failed := map[string]time.Duration{"week.json": 7 * day, "bad.json": 10 * day,
			"bad~2.json": 6 * day, "bad~3.json": 5 * day}
		for i := range keepCopies + 5 {
			failed[fmt.Sprint("f", i, ".json")] = time.Duration(i) * time.Hour
		}

		archiveAs(t, l, now, protocol.Completed, completed)
		archiveAs(t, l, now, protocol.Failed, failed)
		must(t, l.PruneArchive(now))

		delete(failed, "week.json")
		wantArchive(t, l, completed, failed)
	}
}

// Of what failed the newest 1000 stay, besides the young ones. Attempts at tasks are no part of
// them.
func TestPruneArchiveOfManyFailures(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, queue.Content("{}"), "t")
	now := time.Now()
	completed, failed := map[string]time.Duration{}, map[string]time.Duration{}
	attempts, none := map[string]time.Duration{}, map[string]time.Duration{}
	for i := range keepCopies {
		completed[fmt.Sprint("c", i, ".json")] = 30 * 24 * time.Hour
		attempts[fmt.Sprintf("q.t.%d.json", i+1)] = 2*time.Hour - time.Duration(i)*time.Second
		none[fmt.Sprintf("none.t.%d.json", i+1)] = 90 * time.Minute
	}
	for i := range keepFailed - keepCopies + 10 {
		failed[fmt.Sprint("f", i, ".json")] = 2*time.Hour + time.Duration(i)*time.Second
	}

	archiveAs(t, l, now, protocol.Completed, completed)
	archiveAs(t, l, now, protocol.Failed, failed)
	archiveAs(t, l, now, protocol.Failed, attempts)
	archiveAs(t, l, now, protocol.Failed, none) // no attempts: there is no such queue
	archiveAs(t, l, now, protocol.Failed, map[string]time.Duration{"q.t.99.json": 3 * time.Hour})
	must(t, l.PruneArchive(now))

	for i := range 10 {
		delete(failed, fmt.Sprint("f", keepFailed-keepCopies+i, ".json"))
	}
	wantArchive(t, l, completed, failed, attempts, none)
}

// What completed goes in the end, however many failures there are.
func TestPruneArchiveOfMany(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	now := time.Now()
	kept, others, failed := map[string]time.Duration{}, map[string]time.Duration{},
		map[string]time.Duration{}
	for i := range keepCopies {
		kept[fmt.Sprint("c", i, ".json")] = time.Minute
	}
	for i := range 3 * mostRead {
		failed[fmt.Sprint("f", i, ".json")] = 2*time.Hour + time.Duration(i)*time.Second
	}
	for i := range 50 {
		others[fmt.Sprint("o", i, ".json")] = 2*time.Hour + time.Duration(7*i)*time.Second
	}

	archiveAs(t, l, now, protocol.Completed, kept)
	archiveAs(t, l, now, protocol.Completed, others)
	archiveAs(t, l, now, protocol.Failed, failed)
	for range 200 {
		must(t, l.PruneArchive(now))
		if len(filesIn(t, l.ArchiveDir())) == len(kept)+len(failed) {
			break
		}
	}
	wantArchive(t, l, kept, failed)
}

// A copy that cannot be read stays, and the error is returned. A copy that another process removes
// first is no error.
func TestPruneArchiveOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const oldest = "z.json"
	for name, c := range map[string]struct {
		do   func(path string) error
		left bool
		want error
	}{
		"broken": {func(string) error { return errDisk }, true, errDisk},
		"gone":   {os.Remove, false, nil},
	} {
		l, h := hookedLedger(t, Config{}, Options{})
		copies := map[string]time.Duration{}
		for i := range keepCopies {
			copies[fmt.Sprint("c", i, ".json")] = 2*time.Hour + time.Duration(i)*time.Second
		}
		archiveAs(t, l, now, protocol.Failed, copies) // so that the oldest is read
		archiveAs(t, l, now, protocol.Failed, map[string]time.Duration{oldest: 3 * time.Hour})
		path := filepath.Join(l.ArchiveDir(), oldest)
		h.Before = nth(t, 1, "open", "/"+oldest, func() error { return c.do(path) })
		if err := l.PruneArchive(now); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		h.Before = nil
		if left := !gone(t, path); left != c.left {
			t.Errorf("%s: it is left: %v", name, left)
		}
	}

	l, h := hookedLedger(t, Config{}, Options{})
	archiveAs(t, l, now, protocol.Failed, map[string]time.Duration{"a.json": 0, "b.json": 0})
	h.Before = nth(t, 1, "stat", "/a.json",
		func() error { return os.Remove(filepath.Join(l.ArchiveDir(), "a.json")) })
	if copies, err := l.archiveCopies(); err != nil || len(copies) != 1 || copies[0].id != "b" {
		t.Errorf("pruned while it was listed: %v, %v", copies, err)
	}
}
