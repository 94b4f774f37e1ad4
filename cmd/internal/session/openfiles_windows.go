package session

// checkOpenFiles returns nil: there is no limit.
func checkOpenFiles() error { return nil }
