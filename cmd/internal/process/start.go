package process

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strconv"
	"time"
)

// StartVariable is the environment variable by which the processes of one start are known, also those that have left its
// session: ids that NewStartID made, separated by commas. A pass gives what it starts one id; dpl-run, whose command
// belongs also to whatever has started dpl-run, puts its own in front of those that it was given.
const StartVariable = "DPL_START"

// NewStartID returns 16 random hexadecimal digits.
func NewStartID() string {
	var random [8]byte
	rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}

// Start is a command to be started. Its strings may hold any byte but NUL.
type Start struct {
	// Argv is what the command gets. If Argv[0] has no slash it is looked up as execvp(3) does, in the first PATH of Env;
	// without a PATH in /bin and /usr/bin. A script needs its #! line: no shell is tried.
	Argv []string
	// Dir is the working directory, absolute. A relative command, PATH or Log counts from there.
	Dir string
	// Env is the whole environment.
	Env []string
	// Log is the file that gets what the command writes to stdout and stderr: it is appended to, created with mode 0600,
	// and must not be a symbolic link. It may be /dev/null.
	Log string
	// ID is of this start, as NewStartID returns: its keeper is known by it. The stage is not told.
	ID string
	// Latest is when it is too late to begin, by Uptime; 0: never.
	Latest time.Duration
}

// encode returns s as readStart reads it. Of its beginnings none is a Start, so that one cut short starts nothing.
func (s Start) encode() []byte {
	var b []byte
	for _, list := range [][]string{s.Argv, s.Env, {s.Dir, s.Log, strconv.FormatInt(int64(s.Latest), 10)}} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, element := range list {
			b = binary.AppendUvarint(b, uint64(len(element)))
			b = append(b, element...)
		}
	}
	return b
}

// readStart reads what encode wrote, or returns the error of r, such as io.EOF where it ends too early.
func readStart(r *bufio.Reader) (Start, error) {
	var lists [3][]string
	for i := range lists {
		count, err := binary.ReadUvarint(r)
		if err != nil {
			return Start{}, err
		}
		for range count {
			element, err := readElement(r)
			if err != nil {
				return Start{}, err
			}
			lists[i] = append(lists[i], element)
		}
	}
	if len(lists[0]) == 0 || len(lists[2]) != 3 {
		return Start{}, io.ErrUnexpectedEOF
	}
	latest, err := strconv.ParseInt(lists[2][2], 10, 64)
	return Start{Argv: lists[0], Env: lists[1], Dir: lists[2][0], Log: lists[2][1], Latest: time.Duration(latest)}, err
}

func readElement(r *bufio.Reader) (string, error) {
	length, err := binary.ReadUvarint(r)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(r, int64(length&^(1<<63))))
	if err == nil && uint64(len(content)) < length {
		err = io.ErrUnexpectedEOF
	}
	return string(content), err
}
