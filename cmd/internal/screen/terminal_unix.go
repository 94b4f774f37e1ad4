//go:build unix

package screen

// obeysEscapes returns true: every terminal does here.
func obeysEscapes(fd int) bool { return true }
