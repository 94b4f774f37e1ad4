//go:build !linux

package fileops

// Move gives a file two names for a moment.
func (o osFS) Move(old, new string) error { return o.linkThenRemove(old, new) }
