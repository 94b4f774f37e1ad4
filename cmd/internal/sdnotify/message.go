package sdnotify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestStatus = 1024 // bytes

// parse returns the message in a datagram, and whether it is a request for a barrier. A malformed
// datagram gives the zero Message. It follows systemd's notify_recv_with_fds,
// manager_process_barrier_fd and service_notify_message: a NUL before the end, or a barrier that is
// not alone, spoils the datagram; bad UTF-8 spoils only the STATUS that contains it; \r separates
// as \n does; STOPPING wins over READY, and READY over RELOADING. The last of several STATUS
// counts; in systemd the first does.
func parse(datagram []byte) (m Message, barrier bool) {
	text := strings.TrimSuffix(string(datagram), "\x00")
	if strings.Contains(text, "\x00") {
		return Message{}, false
	}

	assignments := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if slices.Contains(assignments, "BARRIER=1") {
		return Message{}, len(assignments) == 1
	}

	for _, a := range assignments {
		m.assign(a)
	}

	m.Ready = m.Ready && !m.Stopping
	m.Reloading = m.Reloading && !m.Ready && !m.Stopping

	return m, false
}

func (m *Message) assign(assignment string) {
	switch assignment {
	case "READY=1":
		m.Ready = true
	case "RELOADING=1":
		m.Reloading = true
	case "STOPPING=1":
		m.Stopping = true
	case "WATCHDOG=1":
		m.Watchdog = true
	case "WATCHDOG=trigger":
		m.Trigger = true
	default:
		if s, ok := strings.CutPrefix(assignment, "STATUS="); ok && utf8.ValidString(s) {
			s = line(s)
			m.Status = &s
		}
	}
}

// line returns s with each control character replaced by a space, truncated to longestStatus.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)

	if len(s) <= longestStatus {
		return s
	}

	end := longestStatus
	for !utf8.RuneStart(s[end]) {
		end--
	}

	return s[:end]
}
