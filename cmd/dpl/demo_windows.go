package main

import "os"

// tryLock does nothing: the demo needs Linux, and its script says so.
func tryLock(*os.File) error { return nil }

// isMine returns false, so that nothing is removed.
func isMine(os.FileInfo) bool { return false }
