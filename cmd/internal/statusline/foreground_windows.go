package statusline

// inForeground returns true: here a console has one program that writes to it.
func inForeground(fd int) bool { return true }
