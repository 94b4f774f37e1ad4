package process

import (
	"syscall"
	"testing"
)

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "SIGTERM": syscall.SIGTERM, "sigterm": syscall.SIGTERM,
		"15":   syscall.SIGTERM,
		"BUS":  syscall.SIGBUS,
		"kill": syscall.SIGKILL, "Hup": syscall.SIGHUP, "1": 1, "09": 9, "64": 64,
	} {
		if got, err := ParseSignal(name); got != want || err != nil {
			t.Errorf("ParseSignal(%q) = %d, %v, want %d", name, got, err, want)
		}
	}
}

func TestParseSignalRefuses(t *testing.T) {
	for _, name := range []string{
		"", "SIG", "0", "-9", "+9", "65", "256", "265", "18446744073709551625", "9x", " 9", "SIG9",
		"SIGSIGTERM", "NONE",
	} {
		if got, err := ParseSignal(name); got != 0 || err == nil {
			t.Errorf("ParseSignal(%q) = %d, want an error", name, got)
		}
	}
}
