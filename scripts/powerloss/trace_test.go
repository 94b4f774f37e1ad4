package powerloss

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// traced is the set of system calls that strace logs: all that change files, and those that show
// which file they change. It includes calls that no command should make, so that replaying one
// fails.
const traced = "open,openat,openat2,creat,close,close_range,dup,dup2,dup3,fcntl,lseek,chdir,fchdir,execve,clone,clone3,fork,vfork," +
	"write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,fallocate,copy_file_range,sendfile,splice," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,mknod,mknodat," +
	"chmod,fchmod,fchmodat,fchmodat2,fsync,fdatasync,sync,syncfs,sync_file_range,io_uring_setup"

// straceFlags are the flags of strace that readTrace needs. A ? marks calls that not every machine
// or strace knows.
func straceFlags(log string) []string {
	return []string{"-f", "-xx", "-s", "10000000", "-o", log, "-e", "trace=?" +
		strings.ReplaceAll(traced, ",", ",?")}
}

// A call is one system call that succeeded, of a thread.
type call struct {
	thread int
	name   string
	args   []string
	result int64
	line   string
}

// A trace is what strace has logged.
type trace struct {
	calls   []call
	parents map[int]call // the call that made a thread, by thread
}

var (
	unfinished = regexp.MustCompile(`^(\d+) +(.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	complete   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\w+)`)
)

// readTrace reads the output of strace -f -xx. A call that strace shows in two parts counts at its
// end.
func readTrace(r io.Reader) (trace, error) {
	t := trace{parents: map[int]call{}}
	begun := map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)

	for lines.Scan() {
		line := lines.Text()
		if m := unfinished.FindStringSubmatch(line); m != nil {
			begun[m[1]] = m[2]
			continue
		}

		if m := resumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + begun[m[1]] + m[2]
		}

		m := complete.FindStringSubmatch(line)
		if m == nil {
			continue // a signal, an exit
		}

		result, err := strconv.ParseInt(m[4], 0, 64)
		if err != nil || result < 0 {
			continue
		}

		thread, _ := strconv.Atoi(m[1])
		c := call{thread, m[2], split(m[3]), result, line}
		t.calls = append(t.calls, c)
		if strings.HasPrefix(c.name, "clone") || strings.HasSuffix(c.name, "fork") {
			t.parents[int(result)] = c
		}
	}

	return t, lines.Err()
}

// split takes the arguments of a call apart.
func split(list string) (args []string) {
	depth, quoted, from := 0, false, 0
	for i, c := range list {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}

	return append(args, strings.TrimSpace(list[from:]))
}

func (c call) has(flag string) bool {
	for _, arg := range c.args {
		if !strings.HasPrefix(arg, `"`) && strings.Contains(arg, flag) {
			return true
		}
	}
	return false
}

// bytes returns an argument that is a string, all of whose bytes strace has written in hexadecimal.
func (c call) bytes(i int) ([]byte, error) {
	text, quoted := strings.CutPrefix(c.args[i], `"`)
	text, whole := strings.CutSuffix(text, `"`)
	data, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if !quoted || !whole || err != nil {
		return nil, fmt.Errorf("%s: argument %d is no whole string", c.line, i)
	}
	return data, nil
}

func (c call) number(i int) (int64, error) {
	n, err := strconv.ParseInt(c.args[i], 0, 64)
	if err != nil {
		err = fmt.Errorf("%s: argument %d is no number", c.line, i)
	}
	return n, err
}
