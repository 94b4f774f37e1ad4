package poll

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			comes time.Duration
			want  bool
		}{{0, true}, {time.Nanosecond, true}, {time.Second, true}, {time.Hour, false}} {
			begin := time.Now()
			looks := 0
			got := Within(time.Second, func() bool { looks++; return time.Since(begin) >= c.comes })

			late := time.Since(begin) - min(c.comes, time.Second)
			if got != c.want || late > longestPause || looks > 200 {
				t.Errorf("after %v: got %t, %v too late, with %d looks", c.comes, got, late, looks)
			}
		}
	})
}

func TestWithinNoTime(t *testing.T) {
	if !Within(0, func() bool { return true }) {
		t.Error("it did not look")
	}
}

// A recorder is a test that notes why it failed.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r)
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		Until(t, "the first look", func() bool { return true })

		r := &recorder{}
		func() {
			defer func() { recover() }()
			Until(r, "the service runs", func() bool { return false })
		}()

		if want := "after 1m0s not yet: the service runs"; r.said != want {
			t.Errorf("got %q, want %q", r.said, want)
		}
	})
}
