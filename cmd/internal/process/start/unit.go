package start

import (
	"encoding/hex"
	"hash/fnv"
	"os"
	"strings"
	"time"
)

// A Unit is a transient service of systemd.
type Unit struct {
	Name        string        // as UnitName returns
	User        bool          // of the caller's service manager instead of the system's
	StopTimeout time.Duration // when the main process has gone or systemctl stops it: from TERM to KILL of what is left
}

// UnitName returns the name of the systemd service for a start of a supervisor of a group: "dpl-GROUP-SUPERVISOR-START.service",
// with "-" inside an id written as systemd-escape(1) does. Both are valid ids (spec §1.1); start is the id of this start,
// which tells it from all others, since systemd may still be busy stopping what is left of the one before. No two triples
// share a name. One that would be longer than the 255 bytes allowed is "dpl-HASH-START.service", where two might share one by
// chance (128 bits).
func UnitName(group, supervisor, start string) string {
	const longest = 255
	escape := strings.NewReplacer("-", `\x2d`)
	name, end := "dpl-"+escape.Replace(group)+"-"+escape.Replace(supervisor), "-"+start+".service"
	if len(name+end) > longest {
		h := fnv.New128a()
		h.Write([]byte(name))
		name = "dpl-" + hex.EncodeToString(h.Sum(nil))
	}
	return name + end
}

// InUnit reports whether this process is part of a systemd service, whose end would kill also what Spawn started, and
// whether that is one of a user's service manager: then SpawnUnit helps. Part of a service is what systemd gave an
// INVOCATION_ID and whose control group is a service's. So a login session, which is a scope, is none; nor is a cron
// job, to which cron does not pass that variable: cron's own unit kills no jobs.
func InUnit() (user, ok bool) {
	if os.Getenv("INVOCATION_ID") == "" {
		return false, false
	}
	content, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return false, false
	}
	return serviceOf(string(content))
}

// serviceOf reports what InUnit does of the text of a file /proc/PID/cgroup.
func serviceOf(cgroups string) (user, ok bool) {
	for line := range strings.SplitSeq(cgroups, "\n") {
		_, rest, _ := strings.Cut(line, ":")
		controllers, path, _ := strings.Cut(rest, ":")
		if controllers != "" && controllers != "name=systemd" {
			continue
		}
		if user, ok := innermost(path); ok {
			return user, ok
		}
	}
	return false, false
}

// innermost reports whether the innermost unit of a control group's path is a service, and a user manager's. The manager
// itself, user@UID.service, does not count: its own units do.
func innermost(path string) (user, service bool) {
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case strings.HasPrefix(part, "user@") && strings.HasSuffix(part, ".service"):
			user, service = true, false
		case strings.HasSuffix(part, ".service"):
			service = true
		case strings.HasSuffix(part, ".scope"):
			service = false
		}
	}
	return user && service, service
}
