//go:build !linux

package disk

import "io/fs"

// OpenHeld returns fs.ErrNotExist.
func (OS) OpenHeld(int, func(FileID) bool) (Held, error) { return nil, fs.ErrNotExist }
