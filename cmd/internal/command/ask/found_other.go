//go:build !linux

package ask

// madeUp returns false: the usual file systems here have files only.
func (found) madeUp() bool { return false }

// hasACL returns false: an access list is asked for by access(2) only.
func hasACL(string) bool { return false }

// mastered returns false: there are no capabilities.
func (found) mastered() bool { return false }

// shifts returns false: a link leads all processes to the same place.
func (found) shifts() bool { return false }
