package store

import (
	"errors"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
)

// The revision in a file is found without the rest being understood, but nothing is taken for one
// that is none.
func TestRevisionOf(t *testing.T) {
	t.Parallel()
	bad := errors.New("any error")
	for text, want := range map[string]struct {
		revision int64
		err      error
	}{
		`{"revision": 7}`: {7, nil},
		`{"a": {"revision": 1}, "revision": 7, nyi`: {7, nil},
		`{}`:                                {0, nil},
		`{"a": 1}`:                          {0, nil},
		`{"revision": 4611686018427387904}`: {layout.MaxRevision, nil},
		`{"revision": 4611686018427387905}`: {0, bad},
		`{"revision": 9223372036854775807}`: {0, bad},
		`{"revision": -1}`:                  {0, bad},
		`{"revision": 1.5}`:                 {0, bad},
		`{"revision": "7"}`:                 {0, bad},
		`{"a": nyi, "revision": 7}`:         {0, bad},
		`{"a": 1, "a": 2, "revision": 7}`:   {0, bad},
		`{"a": 1, "b`:                       {0, bad},
		`{"a": 1]`:                          {0, bad},
		`{`:                                 {0, bad},
		``:                                  {0, bad},
		`[7]`:                               {0, bad},
	} {
		got, err := revisionOf([]byte(text))
		if err == nil != (want.err == nil) || err == nil && got != want.revision {
			t.Errorf("%s: got %d, %v, want %d, %v", text, got, err, want.revision, want.err)
		}
	}
}

// An edit that has lost its lock is told so, as if it had found it taken.
func TestLostLockIsBusy(t *testing.T) {
	t.Parallel()
	want := "another process holds the lock by now, and has made an edit"
	if got := ErrLost.Error(); got != want || !errors.Is(ErrLost, disk.ErrBusy) {
		t.Errorf("got %q, want %q, an ErrBusy", got, want)
	}
}
