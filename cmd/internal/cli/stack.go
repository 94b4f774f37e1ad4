package cli

// growStack makes the stack of this goroutine large enough for nearly all commands, while there is
// little on it. By itself it would grow four times, each time with more frames to be copied: about
// as much work as decoding a file.
//
//go:noinline
func growStack(never bool) byte {
	if never {
		var room [32 << 10]byte // makes the frame large, but is not cleared unless it is used
		return last(&room)
	}
	return 0
}

//go:noinline
func last(room *[32 << 10]byte) byte { return room[len(room)-1] }
