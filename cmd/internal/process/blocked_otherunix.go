//go:build unix && !linux

package process

// UnblockSignals does nothing here: blocked signals stay blocked.
func UnblockSignals() {}
