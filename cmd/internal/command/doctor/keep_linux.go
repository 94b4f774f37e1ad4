package doctor

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keptBy returns what kind of file system path is on. It returns onDisk if it cannot tell.
func keptBy(path string) keep {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return onDisk
	}

	switch uint32(fs.Type) {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return inMemory
	case unix.OVERLAYFS_SUPER_MAGIC:
		mounts, _ := os.ReadFile("/proc/self/mountinfo")
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && ignoresFsync(string(mounts),
			fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))) {
			return onVolatile
		}
		return onOverlay
	}
	return onDisk
}

// ignoresFsync reports whether mounts, the text of mountinfo, has an overlay with that device and
// the option volatile, which Linux calls fsync=volatile since 6.18.
func ignoresFsync(mounts, device string) bool {
	for line := range strings.Lines(mounts) {
		mount, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		at, of := strings.Fields(mount), strings.Fields(after)
		if len(at) < 3 || len(of) < 3 || at[2] != device || of[0] != "overlay" {
			continue
		}
		for option := range strings.SplitSeq(of[2], ",") {
			if option == "volatile" || option == "fsync=volatile" {
				return true
			}
		}
	}
	return false
}
