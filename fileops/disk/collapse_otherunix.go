//go:build unix && !linux

package disk

import "errors"

func collapse(int, int64) error { return errors.ErrUnsupported }
