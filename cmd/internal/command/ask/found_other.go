//go:build !linux

package ask

// madeUp returns false: the usual file systems here have files only.
func (found) madeUp() bool { return false }

// hasACL returns false: an access list is asked for by access(2) only.
func hasACL(string) bool { return false }

// mastered returns false: there are no capabilities.
func (found) mastered() bool { return false }
