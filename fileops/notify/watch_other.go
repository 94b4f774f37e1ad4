//go:build !linux

package notify

import "github.com/dpl-project/dpl/fileops/disk"

// watcher is empty: other systems have nothing in common to watch with.
type watcher struct{}

func newWatcher(disk.FS, func()) *watcher { return nil }
func (*watcher) arm([]string) bool        { return false }
func (*watcher) close() error             { return nil }
