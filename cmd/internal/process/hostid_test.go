package process

import "testing"

// The sums were computed by another implementation of FNV-1a.
func TestHostID(t *testing.T) {
	for _, c := range []struct{ machineID, hostName, want string }{
		{"", "", "af63a24c860189fe"},
		{"", "a", "07d66707b49cd92d"},
		{"3d1219c7c4c5404aaa1f6d2a48adfda4", "vm", "75ff6945b9d096b3"},
		{"3d1219c7c4c5404aaa1f6d2a48adfda4", "vn", "75ff6a45b9d09866"},
		{"", "host200", "00fa9c301ea47ede"},
	} {
		if got := hostID(c.machineID, c.hostName); got != c.want {
			t.Errorf("hostID(%q, %q) = %s, want %s", c.machineID, c.hostName, got, c.want)
		}
	}
}
