package start

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Journal is the socket of systemd-journald for the output of services.
const Journal = "/run/systemd/journal/stdout"

// ErrNoJournal means that systemd-journald takes no output.
var ErrNoJournal = errors.New("there is no journal of systemd")

// CheckJournal returns ErrNoJournal if nobody listens at the socket.
func CheckJournal(socket string) error {
	fd, err := dialJournal(socket)
	if err != nil {
		return fmt.Errorf("%w: connect %q: %w", ErrNoJournal, socket, err)
	}
	return unix.Close(fd)
}

// dialJournal returns a connection to the socket of a journal. One whose listener is stuck must not
// block the pass.
func dialJournal(socket string) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openJournal returns a stream whose lines go to the journal with identifier as their
// SYSLOG_IDENTIFIER, as sd_journal_stream_fd(3) does.
func openJournal(socket, identifier string) (fd int, err error) {
	fd, err = dialJournal(socket)
	if err != nil {
		return -1, err
	}

	const roomy = 8 << 20 // so that the service seldom waits for the journal
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, roomy)
	unix.Shutdown(fd, unix.SHUT_RD)
	header := journalHeader(identifier)
	if n, err := unix.Write(fd, []byte(header)); err != nil || n < len(header) {
		unix.Close(fd)
		return -1, errors.Join(err, errors.New("the journal takes no header"))
	}
	return fd, nil
}

// journalHeader is what the journal gets before the first line: the identifier; no unit, it finds
// that itself; the priority info; a prefix such as <3> of a line has another one; and the lines are
// passed on to nobody else.
func journalHeader(identifier string) string {
	const info, prefixes, toSyslog, toKernel, toConsole = "6", "1", "0", "0", "0"
	return strings.Join([]string{identifier, "", info, prefixes, toSyslog, toKernel, toConsole, ""},
		"\n")
}

// inJournal returns env with the variable by which a program finds out that its output, fd, is the
// journal.
func inJournal(env []string, fd int) []string {
	const variable = "JOURNAL_STREAM="
	env = slices.DeleteFunc(slices.Clone(env),
		func(v string) bool { return strings.HasPrefix(v, variable) })
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return env
	}
	return append(env, variable+strconv.FormatUint(stat.Dev, 10)+":"+
		strconv.FormatUint(stat.Ino, 10))
}
