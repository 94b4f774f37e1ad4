// Package stack makes the stack of the first goroutine large enough for nearly all commands. By
// itself it would grow five times, each time with more frames to be copied, and in pieces that are
// never used again: 1 part in 30 of a command's time. It imports nothing, so it is initialised
// before nearly all other packages, while there is little on the stack.
package stack

func init() { grow(false) }

//go:noinline
func grow(never bool) byte {
	if never {
		var room [32 << 10]byte // makes the frame large, but is not cleared unless it is used
		return last(&room)
	}
	return 0
}

//go:noinline
func last(room *[32 << 10]byte) byte { return room[len(room)-1] }
