package start

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// What a host or a pass lacks is a shortage, and what is wrong with a command is none.
func TestClass(t *testing.T) {
	t.Parallel()
	const short, never = policy.Tempfail, policy.Terminal
	for err, want := range map[error]policy.Class{
		syscall.EMFILE: short, syscall.ENFILE: short, syscall.ENOMEM: short, syscall.EAGAIN: short,
		syscall.EDQUOT: short, syscall.ENOSPC: short, syscall.EROFS: short, syscall.EIO: short,
		syscall.ENXIO: short, syscall.ESTALE: short, shortage{syscall.ENOENT}: short,
		misfit{syscall.ENOENT}: never, misfit{syscall.EIO}: never,
		syscall.ENOENT: "", syscall.EACCES: "", syscall.E2BIG: "", syscall.ENOEXEC: "",
		syscall.ENOTDIR: "", ErrTooLate: "", ErrSilent: "",
	} {
		wrapped := fmt.Errorf("exec: %w", &os.PathError{Op: "open", Path: "x", Err: err})
		if Class(err) != want || Class(wrapped) != want || Class(errors.Join(nil, wrapped)) != want {
			t.Errorf("%v: want %q", err, want)
		}
	}
}
