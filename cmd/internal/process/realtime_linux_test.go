package process

import (
	"syscall"
	"testing"
)

// All names that kill -l of dash and bash print are known.
func TestParseSignalNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]syscall.Signal{
		"RTMIN": 34, "SIGRTMIN+1": 35, "rtmin+15": 49, "RTMAX-14": 50, "SIGRTMAX": 64, "RTMAX-30": 34,
		"RTMIN+30": 64, "STKFLT": 16, "CLD": 17, "IO": 29, "POLL": 29, "IOT": 6, "PWR": 30, "SYS": 31,
		"SIGBUS": 7,
	} {
		if got, err := ParseSignal(name); got != want || err != nil {
			t.Errorf("ParseSignal(%q) = %d, %v, want %d", name, got, err, want)
		}
	}
	for _, name := range []string{"RTMIN-1", "RTMAX+1", "RTMIN+31", "RTMAX-31", "RTMIN+", "RTMIN1",
		"RTMIN+-1", "RTMAX--1", "RT"} {
		if got, err := ParseSignal(name); got != 0 || err == nil {
			t.Errorf("ParseSignal(%q) = %d, want an error", name, got)
		}
	}
}
