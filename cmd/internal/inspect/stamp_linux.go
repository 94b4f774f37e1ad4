package inspect

import (
	"io/fs"
	"syscall"
	"time"
)

// changeOf returns when the file that info describes, or its inode, was changed, and the number of
// that.
func changeOf(info fs.FileInfo) (time.Time, int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix()), int64(st.Ino)
	}
	return info.ModTime(), 0
}
