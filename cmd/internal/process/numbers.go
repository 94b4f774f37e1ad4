//go:build unix

package process

import (
	"os"
	"strconv"
)

// Numbers returns the names in the directory dir that are numbers, in no order: pids in /proc,
// threads in /proc/PID/task, descriptors in /proc/self/fd, including the closed one of dir itself.
func Numbers(dir string) (numbers []int, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()

	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, number)
		}
	}

	return numbers, nil
}
