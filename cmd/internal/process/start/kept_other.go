//go:build !linux

package start

// Kept returns nothing: there are no keepers.
func Kept(dir string) map[string]int { return nil }
