//go:build !linux

package fileops

// watcher is empty: other systems have nothing in common to watch with.
type watcher struct{}

func newWatcher(*Ledger, func()) *watcher { return nil }
func (*watcher) arm([]string) bool        { return false }
func (*watcher) close() error             { return nil }
