package fileops

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// prefault makes the kernel map the pages of a large new buffer in one call. Faulting them in one by one takes longer than
// reading a file into them. It is no more than a hint.
func prefault(buf []byte) {
	const page, worthwhile = 4096, 64 << 10
	if len(buf) < worthwhile {
		return
	}
	if skip := -uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % page; skip > 0 {
		buf = buf[skip:]
	}
	unix.Madvise(buf[:len(buf)/page*page], unix.MADV_POPULATE_WRITE)
}
