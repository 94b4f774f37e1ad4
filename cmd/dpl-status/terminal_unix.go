//go:build unix

package main

// obeysEscapes is true: there is no other terminal.
func obeysEscapes(fd int) bool { return true }
