//go:build !linux

package fileops

// watcher is what other systems have no common form of.
type watcher struct{}

func newWatcher(*Ledger, func()) *watcher { return nil }
func (*watcher) arm([]string) bool        { return false }
func (*watcher) close() error             { return nil }
