package sdnotify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// said returns the names of the fields of m that are set, and its status in Go syntax.
func said(m Message) string {
	var words []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"ready", m.Ready}, {"reloading", m.Reloading}, {"stopping", m.Stopping},
		{"watchdog", m.Watchdog}, {"trigger", m.Trigger}, {"barrier", m.Barrier != nil},
	} {
		if field.set {
			words = append(words, field.name)
		}
	}

	if m.Status != nil {
		words = append(words, fmt.Sprintf("%q", *m.Status))
	}

	return strings.Join(words, " ")
}

var datagrams = []struct{ datagram, want string }{
	{"READY=1", "ready"},
	{"READY=1\n", "ready"},
	{"READY=1\x00", "ready"},
	{"READY=1\n\x00", "ready"},
	{"\n\nREADY=1\r\n\nSTATUS=up\r", `ready "up"`},
	{"RELOADING=1\nMONOTONIC_USEC=12345", "reloading"},
	{"STOPPING=1", "stopping"},
	{"WATCHDOG=1", "watchdog"},
	{"WATCHDOG=trigger", "trigger"},
	{"WATCHDOG=1\nWATCHDOG=trigger", "watchdog trigger"},
	{"READY=1\nWATCHDOG=1\nMAINPID=1\nSTATUS=a", `ready watchdog "a"`},

	{"READY=1\nRELOADING=1", "ready"},
	{"RELOADING=1\nREADY=1", "ready"},
	{"READY=1\nSTOPPING=1", "stopping"},
	{"STOPPING=1\nRELOADING=1\nREADY=1", "stopping"},
	{"STOPPING=1\nRELOADING=1", "stopping"},

	{"STATUS=", `""`},
	{"STATUS= a=b\\n ", `" a=b\\n "`},
	{"STATUS=one\nSTATUS=two", `"two"`},
	{"STATUS=one\nSTATUS=", `""`},
	{"STATUS=\a\x1b[31mred\ttab\x7f\u0085é", `"  [31mred tab  é"`},
	{"READY=1\nSTATUS=\xff", "ready"},
	{"STATUS=one\nSTATUS=\xc3", `"one"`},
	{"STATUS=\xff", ""},
	{"FDNAME=\xff\nREADY=1", "ready"},

	{"", ""},
	{"\n", ""},
	{"\x00", ""},
	{"READY=1\x00\x00", ""},
	{"READY=1\x00\n", ""},
	{"READY=1\nSTATUS=a\x00b", ""},
	{"\x00READY=1", ""},
	{"READY", ""},
	{"READY=0", ""},
	{"READY=1 ", ""},
	{" READY=1", ""},
	{"ready=1", ""},
	{"WATCHDOG=2", ""},
	{"WATCHDOG=", ""},
	{"WATCHDOG_USEC=1", ""},
	{"X_STATUS=a", ""},
	{"FDSTORE=1\nFDNAME=a", ""},
	{"BARRIER=0", ""},
}

func TestParse(t *testing.T) {
	for _, d := range datagrams {
		m, barrier := parse([]byte(d.datagram))
		if got := said(m); got != d.want || barrier {
			t.Errorf("%q: got %s, barrier %t, want %s", d.datagram, got, barrier, d.want)
		}
	}
}

func TestParseBarrier(t *testing.T) {
	for datagram, want := range map[string]bool{
		"BARRIER=1":            true,
		"BARRIER=1\n":          true,
		"\nBARRIER=1\r\n\x00":  true,
		"BARRIER=1\nREADY=1":   false,
		"STATUS=a\nBARRIER=1":  false,
		"X_A=1\nBARRIER=1":     false,
		"BARRIER=1\nBARRIER=1": false,
		"BARRIER=1\x00\x00":    false,
	} {
		m, got := parse([]byte(datagram))
		if got != want || m != (Message{}) {
			t.Errorf("%q: got %t, %s, want %t", datagram, got, said(m), want)
		}
	}
}

func TestParseCutsStatus(t *testing.T) {
	a := strings.Repeat("a", longestStatus-2)
	for _, c := range []struct{ status, want string }{
		{a + "bc", a + "bc"},
		{a + "bcd", a + "bc"},
		{a + "bé", a + "b"},
		{a + "é", a + "é"},
		{a + "€", a},
		{a + "b\U0001F600", a + "b"},
		{a + "\u0085b", a + " b"}, // a space is shorter than U+0085
	} {
		m, _ := parse([]byte("STATUS=" + c.status))
		if m.Status == nil || *m.Status != c.want {
			t.Errorf("%q: got %s", c.status[len(a):], said(m))
		}
	}
}

// Whatever the datagram, the result keeps the promises of Message.
func FuzzParse(f *testing.F) {
	for _, d := range datagrams {
		f.Add([]byte(d.datagram))
	}

	f.Add([]byte("BARRIER=1\n"))
	f.Add([]byte("STATUS=" + strings.Repeat("\u0085€", 1000)))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		m, barrier := parse(datagram)
		if barrier && m != (Message{}) {
			t.Errorf("a barrier that is not alone: %s", said(m))
		}
		if m.Ready && m.Reloading || m.Reloading && m.Stopping || m.Stopping && m.Ready {
			t.Errorf("more than one state: %s", said(m))
		}

		for _, word := range []struct {
			set        bool
			assignment string
		}{{m.Ready, "READY=1"}, {m.Reloading, "RELOADING=1"}, {m.Stopping,
			"STOPPING=1"}, {m.Watchdog, "WATCHDOG=1"}, {m.Trigger, "WATCHDOG=trigger"}, {barrier, "BARRIER=1"}} {
			if word.set && !bytes.Contains(datagram, []byte(word.assignment)) {
				t.Errorf("%q was never sent, but taken in: %s", word.assignment, said(m))
			}
		}

		if again, _ := parse(slices.Concat([]byte("\r\n"), datagram,
			[]byte("\n"))); !bytes.HasSuffix(datagram, []byte("\x00")) && said(again) != said(m) {
			t.Errorf("with empty lines around it %s, without %s", said(again), said(m))
		}
		if s := m.Status; s != nil && (len(*s) > longestStatus || !utf8.ValidString(*s) ||
			strings.ContainsFunc(*s, unicode.IsControl)) {
			t.Errorf("status %q", *s)
		}
	})
}
