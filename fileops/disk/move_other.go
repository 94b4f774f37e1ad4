//go:build !linux

package disk

// Move gives a file two names for a moment.
func (o OS) Move(old, new string) error { return o.linkThenRemove(old, new) }
