package start

import (
	"regexp"
	"strings"
	"testing"
)

func TestUnitName(t *testing.T) {
	for _, c := range []struct{ group, supervisor, want string }{
		{"main", "db", "dpl-main-db-7.service"},
		{"a", "b-c", `dpl-a-b\x2dc-7.service`},
		{"a-b", "c", `dpl-a\x2db-c-7.service`},
		{"A.b_c:d", "1.service", "dpl-A.b_c:d-1.service-7.service"},
		{strings.Repeat("a", 128), strings.Repeat("b", 112),
			"dpl-" + strings.Repeat("a", 128) + "-" + strings.Repeat("b", 112) + "-7.service"},
		// The sum was computed by another implementation of FNV-1a.
		{strings.Repeat("-", 128), strings.Repeat("-", 128),
			"dpl-1967fdddd60843849194dfc3bdc702f9-7.service"},
	} {
		if got := UnitName(c.group, c.supervisor, "7"); got != c.want {
			t.Errorf("UnitName(%q, %q, 7) = %s, want %s", c.group, c.supervisor, got, c.want)
		}
	}
}

// The names allowed by systemd.unit(5): ASCII letters, digits, and :-_.\ in 255 bytes.
var unitNames = regexp.MustCompile(`^[A-Za-z0-9:_.\\-]{1,247}\.service$`)

// No two pairs share a name.
func TestUnitNameIsUnambiguous(t *testing.T) {
	ids := []string{"a", "-", "--", "a-", "-a", "a-b", "x2d", "2d", "_x2d", "a.service", ".", ":",
		strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat("-",
			128), strings.Repeat("a-", 64)}
	of := map[string][2]string{}
	for _, group := range ids {
		for _, supervisor := range ids {
			name := UnitName(group, supervisor, "7")
			if !unitNames.MatchString(name) {
				t.Errorf("%q and %q: %s is no name", group, supervisor, name)
			}
			if other, found := of[name]; found {
				t.Errorf("%q and %q, and %q, are %s", group, supervisor, other, name)
			}
			of[name] = [2]string{group, supervisor}
		}
	}
}

func TestServiceOf(t *testing.T) {
	const session = "0::/user.slice/user-1000.slice/"
	for _, c := range []struct {
		what, cgroups string
		user, ok      bool
	}{
		{"a system service", "0::/system.slice/dpl.service\n", false, true},
		{"an instance", "0::/system.slice/system-dpl.slice/dpl@main.service\n", false, true},
		{"with groups of its own", "0::/system.slice/dpl.service/supervisors\n", false, true},
		{"a user's service", session + "user@1000.service/app.slice/dpl.service\n", true, true},
		{"of systemd 245", session + "user@1000.service/dpl.service\n", true, true},
		{"a desktop's launcher", session +
			"user@1000.service/app.slice/app-org.kde.konsole@5fd2.service\n", true, true},
		{"a shell in a login", session + "session-3.scope\n", false, false},
		{"a terminal's scope", session +
			"user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1f.scope\n", false,
			false},
		{"tmux", session + "user@1000.service/tmux-spawn-0d.scope\n", false, false},
		{"a user's manager", session + "user@1000.service/init.scope\n", false, false},
		{"of an old one", session + "user@1000.service\n", false, false},
		{"a service's scope",
			"0::/machine.slice/systemd-nspawn@a.service/payload/user.slice/session-1.scope\n",
			false, false},
		{"a service in a container",
			"0::/machine.slice/systemd-nspawn@a.service/payload/system.slice/dpl.service\n", false,
			true},
		{"a container", "0::/\n", false, false},
		{"docker", "0::/system.slice/docker-0123.scope\n", false, false},
		{"a slice alone", "0::/system.slice\n", false, false},
		{"version 1", "12:pids:/system.slice/dpl.service\n2:cpu,cpuacct:/\n1:name=systemd:/system.slice/dpl.service\n", false, true},
		{"version 1, a login",
			"12:pids:/user.slice/user-1.slice/session-1.scope\n1:name=systemd:/user.slice/user-1.slice/session-1.scope\n", false, false},
		{"both", "1:name=systemd:/system.slice/dpl.service\n0::/system.slice/dpl.service\n", false,
			true},
		{"version 1 for a user",
			"1:name=systemd:/user.slice/user-1000.slice/user@1000.service/dpl.service\n", true,
			true},
		{"other controllers alone",
			"12:pids:/system.slice/dpl.service\n1:name=elogind:/1.service\n", false, false},
		{"this container", "9:name=systemd:/\n8:pids:/\n4:memory:/process_api/53c2\n0::/\n", false,
			false},
		{"a name with a colon", "0::/system.slice/dpl-a:b-c.service\n", false, true},
		{"nothing", "", false, false},
		{"no line", "system.slice/dpl.service", false, false},
	} {
		if user, ok := serviceOf(c.cgroups); user != c.user || ok != c.ok {
			t.Errorf("%s: user %t, ok %t, want %t, %t", c.what, user, ok, c.user, c.ok)
		}
	}
}

// Without an INVOCATION_ID, a cron job say, it is none.
func TestInUnit(t *testing.T) {
	t.Setenv("INVOCATION_ID", "")
	if user, ok := InUnit(); user || ok {
		t.Errorf("InUnit = %t, %t", user, ok)
	}
}
