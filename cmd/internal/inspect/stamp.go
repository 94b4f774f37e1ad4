package inspect

import (
	"io/fs"
	"time"

	"github.com/dpl-project/dpl/protocol/check"
)

// stampOf returns the stamp of the file that info describes.
func stampOf(info fs.FileInfo, now time.Time) check.Stamp {
	changed, inode := changeOf(info)
	return check.Stamp{Size: info.Size(), Inode: inode, Status: changed.UnixNano(),
		Young: now.Sub(changed) < coarseness(changed)}
}

// coarseness returns how long after changed the time of another change may be the same. Kernels
// count in ticks of up to 10 ms, and file systems without fractions in seconds, or two.
func coarseness(changed time.Time) time.Duration {
	if changed.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 20 * time.Millisecond
}
