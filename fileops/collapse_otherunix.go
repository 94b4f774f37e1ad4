//go:build unix && !linux

package fileops

import "errors"

func collapse(int, int64) error { return errors.ErrUnsupported }
