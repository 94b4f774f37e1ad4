package fileops

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns how many pages of buf the kernel has mapped.
func resident(t *testing.T, buf []byte) (pages int) {
	t.Helper()
	state := make([]byte, len(buf)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(unsafe.Pointer(&state[0])))
	if errno != 0 {
		t.Skip("needs mincore: ", errno)
	}
	for _, s := range state {
		pages += int(s & 1)
	}
	return pages
}

// A large buffer has its pages before it is read into, wherever it begins; a small one is not worth a system call.
func TestPrefault(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	for _, c := range []struct{ size, from, want int }{{64 * 4096, 0, 64}, {64 * 4096, 1, 63}, {8 * 4096, 0, 0}} {
		memory, err := unix.Mmap(-1, 0, c.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		must(t, err)
		if err := unix.Madvise(memory[:page], unix.MADV_POPULATE_WRITE); err != nil || page != 4096 {
			t.Skipf("needs Linux 5.14 and pages of 4 KiB, not %d: %v", page, err)
		}
		must(t, unix.Madvise(memory[:page], unix.MADV_DONTNEED))
		prefault(memory[c.from:])
		if got := resident(t, memory); got < c.want-1 || c.want == 0 && got > 0 {
			t.Errorf("%d bytes from %d: %d pages are there, want %d", c.size, c.from, got, c.want)
		}
		must(t, unix.Munmap(memory))
	}
}

func TestPipeAsOperation(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, unix.Mkfifo(l.operation("op"), 0o600))
	if _, _, err := l.Read("op"); !errors.Is(err, ErrPermission) {
		t.Errorf("a pipe as an operation: %v", err)
	}
}
