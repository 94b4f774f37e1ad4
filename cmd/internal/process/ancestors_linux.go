package process

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/protocol/observe"
)

// mostAncestors ends the search where /proc makes no sense.
const mostAncestors = 256

// Ancestors returns this process and those that it descends from, as far as they can be identified,
// and whether these are all: up to the first one of the pid namespace, or one whose parent is
// outside of it, as one file system of the kernel shows them, with the boot in which they are. A
// process whose parent has ended is the child of another one.
func Ancestors() (all []observe.Process, whole bool) {
	whole = bootIsCertain()
	device := uint64(0)
	for pid := os.Getpid(); len(all) < mostAncestors; {
		p, err := Identify(pid)
		if err != nil {
			return all, false
		}
		all = append(all, p)

		s, on := status(pid)
		if !s.lives() || on == 0 || device != 0 && on != device {
			whole = false
		}
		if device = on; !s.lives() {
			if s, err = look(pid); err != nil {
				return all, false
			}
		}
		if s.parent == 0 || pid == 1 {
			return all, whole && p.Known()
		}
		pid = s.parent
	}
	return all, false
}

// bootIsCertain reports whether the boot id of this process is the kernel's: who mounts another file
// over it would be of another boot. A container may have /proc/sys as a mount of its own, but no other
// directory of the kernel has such a file. Before Linux 5.6 nobody can tell.
func bootIsCertain() bool {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	dir, err := unix.Open("/proc/sys", flags, 0)
	if err != nil {
		return false
	}
	defer unix.Close(dir)
	var fs unix.Statfs_t
	if unix.Fstatfs(dir, &fs) != nil || fs.Type != unix.PROC_SUPER_MAGIC {
		return false
	}

	fd, err := unix.Openat2(dir, "kernel/random/boot_id", &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err == unix.ENOSYS
	}
	defer unix.Close(fd)
	buf := make([]byte, 64)
	n, _ := unix.Read(fd, buf)
	return n > 0 && string(bytes.TrimSpace(buf[:n])) == here.host.BootID
}

// status returns what the kernel says of the process pid, and the device of the file system that
// says it; 0 if that is not the kernel's, or says it of another process.
func status(pid int) (s stat, device uint64) {
	name := strconv.Itoa(pid)
	f, err := os.Open("/proc/" + name + "/stat")
	if err != nil {
		return stat{}, 0
	}
	defer f.Close()
	var fs unix.Statfs_t
	var info unix.Stat_t
	if unix.Fstatfs(int(f.Fd()), &fs) != nil || unix.Fstat(int(f.Fd()), &info) != nil ||
		fs.Type != unix.PROC_SUPER_MAGIC {
		return stat{}, 0
	}
	buf := make([]byte, 1024)
	n, _ := f.Read(buf)
	if !bytes.HasPrefix(buf[:n], []byte(name+" ")) {
		return stat{}, 0
	}
	s, _ = parseStat(buf[:n])
	return s, info.Dev
}
