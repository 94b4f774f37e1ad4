package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/wire"
)

// After a commit no status says that nothing has changed; before one it stays.
func TestAfterCommits(t *testing.T) {
	for _, tt := range []struct {
		err       error
		committed bool
		want      int
	}{
		{fileops.ErrBusy, true, StatusCommitted},
		{fmt.Errorf("write: %w", syscall.EIO), true, StatusCommitted},
		{WithStatus(StatusIO, errors.New("x")), true, StatusCommitted},
		{fileops.ErrBusy, false, StatusBusy},
		{syscall.EIO, false, StatusIO},
		{wire.ErrCorrupt, true, StatusCorrupt},
		{fmt.Errorf("%w: still up", ErrTimeout), true, StatusTimeout},
		{Exit(StatusBusy), true, StatusBusy}, // the worst of several, each of which was named
		{nil, true, StatusOK},
	} {
		env := &Env{Session: session.New(session.Options{})}
		if tt.committed {
			env.NoteCommit()
		}

		err := env.AfterCommits(tt.err)
		if got := StatusOf(err); got != tt.want {
			t.Errorf("%v, committed %v: got %d, want %d", tt.err, tt.committed, got, tt.want)
		}
		if StatusOf(tt.err) != tt.want && (!strings.Contains(err.Error(), "committed") ||
			cure(err) == "") {
			t.Errorf("it says %q, and to do %q", err, cure(err))
		}
	}
}
