package process

import (
	"bytes"
	"strconv"
)

// stat is the part of /proc/PID/stat that says which process this is and whether it has ended.
type stat struct {
	state      byte
	parent     int
	threads    int
	startTicks int64
	exitSignal int // what its parent gets at its end; 0: unknown, or none
}

// parseStat parses a line of /proc/PID/stat, which may end after field 22, and reports whether it
// is valid. Without field 38 the exit signal is unknown. The name in field 2 may contain any bytes,
// so fields are counted from the last parenthesis.
func parseStat(line []byte) (stat, bool) {
	name := bytes.LastIndexByte(line, ')')
	fields := line[name+1:]
	state := field(fields, 3)
	parent, badParent := strconv.Atoi(string(field(fields, 4)))
	threads, badThreads := strconv.Atoi(string(field(fields, 20)))
	startTicks, badStart := strconv.ParseInt(string(field(fields, 22)), 10, 64)
	if name < 0 || len(state) != 1 || badParent != nil || badThreads != nil || badStart != nil {
		return stat{}, false
	}

	exitSignal, _ := strconv.Atoi(string(field(fields, 38)))

	return stat{state[0], parent, threads, startTicks, exitSignal}, true
}

// field returns the field with a number from proc(5), or nothing if it is missing. fields begins
// with the space before the third field. The fields are short: counting spaces takes a third of the
// time of bytes.Cut. bytes.Fields would need the heap.
func field(fields []byte, number int) []byte {
	begin := 0
	for skip := number - 2; skip > 0; begin++ {
		if begin == len(fields) {
			return nil
		}
		if fields[begin] == ' ' {
			skip--
		}
	}

	end := begin
	for end < len(fields) && fields[end] != ' ' {
		end++
	}
	return fields[begin:end]
}

// ended reports whether the process is a zombie or being removed. A main thread that exited before
// its siblings looks the same, except for their number. So does, for a moment, a main thread whose
// sibling calls execve.
func (s stat) ended() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads == 1
}

// lives reports whether it is certainly that of a process that has not ended: the first thread of a
// process is the one that has an exit signal.
func (s stat) lives() bool { return s.state != 'Z' && s.state != 'X' && s.exitSignal > 0 }
