//go:build !linux

package fileops

// prefault does nothing here.
func prefault([]byte) {}
