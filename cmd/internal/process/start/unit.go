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
	Name        string        // from UnitName
	User        bool          // in the caller's service manager instead of the system's
	StopTimeout time.Duration // from TERM to KILL of remaining processes
}

// UnitName returns the name of the systemd service for a start of a service of a group:
// "dpl-GROUP-SERVICE-START.service", with each "-" inside an id escaped as by systemd-escape(1).
// All are valid ids (spec/protocol.md §1.1). start is the id of this start, because systemd may
// still be busy stopping the previous one.
//
// No two triples share a name. A name of more than 255 bytes becomes "dpl-HASH-START.service"
// instead, with 128 bits of hash.
func UnitName(group, service, start string) string {
	const longest = 255
	escape := strings.NewReplacer("-", `\x2d`)
	name, end := "dpl-"+escape.Replace(group)+"-"+escape.Replace(service), "-"+start+".service"
	if len(name+end) > longest {
		h := fnv.New128a()
		h.Write([]byte(name))
		name = "dpl-" + hex.EncodeToString(h.Sum(nil))
	}

	return name + end
}

// InUnit reports whether this process is part of a systemd service, whose end would also kill
// everything started by Spawn, and whether that service belongs to a user's service manager. If so,
// use SpawnUnit.
//
// A process is part of a service if systemd gave it an INVOCATION_ID and its control group is a
// service's. A login session, which is a scope, is not a service. A cron job is not part of one
// either: cron does not pass that variable on, and cron's own unit kills no jobs.
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

// serviceOf does what InUnit does, for the content of a file /proc/PID/cgroup.
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

// innermost reports whether the innermost unit in a control group's path is a service, and whether
// it is a user manager's. The manager itself, user@UID.service, does not count; the units in it do.
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
