package fileops

import (
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// foundDirectory is what is said of a directory that was there when a call began.
const foundDirectory = "directory"

// FindResources returns what is at paths, the resources of a call that is about to begin (spec
// §2.7). What cannot be looked at is not found.
func (l *Ledger) FindResources(paths []string) (found []protocol.FoundResource) {
	for _, path := range paths {
		if info, err := l.fs.Lstat(path); err == nil {
			found = append(found, protocol.FoundResource{Path: path, File: foundAs(info)})
		}
	}
	return found
}

// foundAs returns the text that identifies what info describes, and its contents: a change of them
// changes one of the numbers.
func foundAs(info disk.Info) string {
	if info.Mode.IsDir() {
		return foundDirectory
	}

	text := strconv.FormatUint(info.ID.Device, 10) + ":" + strconv.FormatUint(info.ID.Inode, 10)
	for _, n := range []int64{info.Size, info.ModTime.UnixNano(), info.Changed.UnixNano()} {
		text += ":" + strconv.FormatInt(n, 10)
	}
	return text
}

// isAsFound reports whether what info describes was at path when its call began.
func isAsFound(found []protocol.FoundResource, path string, info disk.Info) bool {
	return slices.ContainsFunc(found, func(f protocol.FoundResource) bool {
		return f.Path == path && f.File == foundAs(info)
	})
}

// Kept returns, and forgets, the resources that edits should have deleted and have left, because
// they were there when their calls began.
func (l *Ledger) Kept() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	l.kept = nil
	return kept
}

func (l *Ledger) recordKept(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, path)
}
