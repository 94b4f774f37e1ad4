//go:build unix

package process

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Numbers returns the names in the directory dir that are numbers, in no order: pids in /proc,
// threads in /proc/PID/task, descriptors in /proc/self/fd, including the closed one of dir itself.
func Numbers(dir string) (numbers []int, err error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	d := os.NewFile(uintptr(fd), dir) // without the poller, which costs more than reading it
	defer d.Close()

	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, number)
		}
	}

	return numbers, nil
}
