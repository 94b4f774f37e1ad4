//go:build unix

package screen

// understandsEscapes returns true: every terminal does here.
func understandsEscapes(fd int) bool { return true }
