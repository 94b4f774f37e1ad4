package process

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"golang.org/x/sys/unix"
)

// here has the facts that do not change while this process lives. The function surroundings fills
// it.
var here struct {
	once   sync.Once
	host   observe.Host  // without BootedAt
	first  time.Duration // the uptime at which process 1 of the pid namespace was started
	clocks bool          // the clocks that count from boot are the ones most processes see
	procfs bool          // /proc shows the processes of our own pid namespace
}

func surroundings() {
	here.host = observe.Host{
		ID:           hostID(firstOf("/etc/machine-id", "/var/lib/dbus/machine-id"), hostName()),
		BootID:       firstOf("/proc/sys/kernel/random/boot_id"),
		PIDNamespace: pidNamespace(),
	}
	here.clocks = initialTimeNamespace()
	self, err := link("/proc/self")
	here.procfs = err == nil && self == strconv.Itoa(unix.Getpid())
	if here.procfs && here.host.PIDNamespace != observe.FirstPIDNamespace {
		var buf [1024]byte
		first, _ := parseStat(read("/proc/1/stat", buf[:])) // unknown: as old as the machine
		here.first = time.Duration(first.startTicks) * tick
	}
}

// tick is the unit of startTicks in /proc: a hundredth of a second on every machine that Go runs on.
const tick = time.Second / 100

// Here describes this machine as this process sees it. It reads everything except BootedAt only
// once. Unknown fields are zero: BootID and PIDNamespace without /proc, and BootedAt in a separate
// time namespace, where it would be wrong.
//
// ID is 16 hexadecimal digits. It is not secret, and stays the same as long as the machine id and
// the host name do. BootedAt is the current wall clock minus the time since process 1 was started,
// so setting the clock changes it; two calls may differ by a millisecond.
func Here() observe.Host {
	here.once.Do(surroundings)
	host := here.host
	if since := Uptime(); here.clocks && since > 0 {
		host.BootedAt = time.Now().Add(here.first - since).Truncate(time.Millisecond).UTC()
	}
	return host
}

// firstOf returns the content of the first file in paths that is not empty, or "".
func firstOf(paths ...string) string {
	var buf [128]byte
	for _, path := range paths {
		if content := read(path, buf[:]); len(content) > 0 {
			return string(content)
		}
	}
	return ""
}

func hostName() string {
	var names unix.Utsname
	if unix.Uname(&names) != nil {
		return ""
	}
	return unix.ByteSliceToString(names.Nodename[:])
}

// pidNamespace returns "4026531836" for the link target "pid:[4026531836]", or "" if there is none.
func pidNamespace() string {
	target, _ := link("/proc/self/ns/pid")
	inode, found := strings.CutPrefix(target, "pid:[")
	if !found {
		return ""
	}
	return strings.TrimSuffix(inode, "]")
}
