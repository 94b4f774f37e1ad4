package fileops

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPipeAsOperation(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, unix.Mkfifo(l.OperationPath("op"), 0o600))
	if _, _, err := l.Read("op"); !errors.Is(err, ErrPermission) {
		t.Errorf("a pipe as an operation: %v", err)
	}
}
