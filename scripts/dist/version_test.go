package main

import (
	"os/exec"
	"testing"
	"time"
)

// TestDebianVersion lists versions so that Debian must take each for an upgrade of the one before.
func TestDebianVersion(t *testing.T) {
	when := time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("east", 3600))
	before := ""
	for _, c := range []struct{ described, want string }{
		{"64cdd7d5d7c2", "0~git20261121.64cdd7d5d7c2"},
		{"64cdd7d5d7c2-dirty", "0~git20261121.64cdd7d5d7c2+dirty"},
		{"v0.1.0-rc.1", "0.1.0~rc.1"},
		{"v0.1.0-rc.1-3-g64cdd7d5d7c2", "0.1.0~rc.1+3.g64cdd7d5d7c2"},
		{"v0.1.0", "0.1.0"},
		{"v0.1.0-3-g64cdd7d5d7c2", "0.1.0+3.g64cdd7d5d7c2"},
		{"v0.1.0-14-g0123456789ab", "0.1.0+14.g0123456789ab"},
		{"0.1.1", "0.1.1"},
	} {
		got := debianVersion(c.described, when)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.described, got, c.want)
		}
		if _, err := exec.LookPath("dpkg"); err != nil {
			continue
		}

		output(t, exec.Command("dpkg", "--validate-version", got))
		if before != "" {
			output(t, exec.Command("dpkg", "--compare-versions", before, "lt", got))
		}

		before = got
	}
}

// TestAlpineVersion lists versions as apk compares them: _rc is before and _p after a release, _git
// before all.
func TestAlpineVersion(t *testing.T) {
	when := time.Date(2026, 11, 21, 23, 30, 0, 0, time.UTC)
	for described, want := range map[string]string{
		"64cdd7d5d7c2":                "0_git20261121",
		"64cdd7d5d7c2-dirty":          "0_git20261121",
		"v0.1.0-rc.1":                 "0.1.0_rc1",
		"v0.1.0-rc.1-3-g64cdd7d5d7c2": "0.1.0_rc1_p3",
		"v0.1.0":                      "0.1.0",
		"v0.1.0-14-g0123456789ab":     "0.1.0_p14",
		"0.1.1":                       "0.1.1",
	} {
		if got := alpineVersion(described, when); got != want {
			t.Errorf("%s: %s, want %s", described, got, want)
		}
	}
}
