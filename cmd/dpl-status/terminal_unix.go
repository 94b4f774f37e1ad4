//go:build unix

package main

// obeysEscapes returns true: every terminal does here.
func obeysEscapes(fd int) bool { return true }
