package ask

// writable returns path: here nothing says that a user could not change a file.
func writable(path string) (string, error) { return path, nil }
