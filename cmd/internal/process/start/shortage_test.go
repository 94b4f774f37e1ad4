package start

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// What a host or a pass lacks is a shortage, and what is wrong with a command is none.
func TestShort(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		syscall.EMFILE: true, syscall.ENFILE: true, syscall.ENOMEM: true, syscall.EAGAIN: true,
		syscall.EDQUOT: true, syscall.ENOSPC: true, syscall.EROFS: true, syscall.EIO: true,
		syscall.ENXIO: true, syscall.ESTALE: true, shortage{syscall.ENOENT}: true,
		syscall.ENOENT: false, syscall.EACCES: false, syscall.E2BIG: false, syscall.ENOEXEC: false,
		syscall.ENOTDIR: false, ErrTooLate: false, ErrSilent: false,
	} {
		wrapped := fmt.Errorf("exec: %w", &os.PathError{Op: "open", Path: "x", Err: err})
		if Short(err) != want || Short(wrapped) != want || Short(errors.Join(nil, wrapped)) != want {
			t.Errorf("%v: want %v", err, want)
		}
	}
}
