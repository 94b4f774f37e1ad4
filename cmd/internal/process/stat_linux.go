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
}

// parseStat parses a line of /proc/PID/stat, which may end after field 22, and reports whether it
// is valid. The name in field 2 may contain any bytes, so fields are counted from the last
// parenthesis.
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

	return stat{state: state[0], parent: parent, threads: threads, startTicks: startTicks}, true
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
