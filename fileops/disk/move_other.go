//go:build !linux

package disk

// Move links and removes, so for a moment the file has two names.
func (o OS) Move(old, new string) error { return o.linkThenRemove(old, new) }
