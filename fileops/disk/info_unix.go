//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

func infoFrom(info fs.FileInfo) Info {
	result := Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		result.Changed = changed(st)
		result.UID = int(st.Uid)
		result.ID = FileID{uint64(st.Dev), uint64(st.Ino)}
		result.Links = uint64(st.Nlink)
	}
	return result
}
