//go:build unix && !linux

package disk

// MountPoint returns false: the rename says why it fails.
func (OS) MountPoint(string) (bool, error) { return false, nil }
