package runner

import (
	"io"
	"os"
)

// Unnamed returns a file with text that has no name, in dir; "" is the usual one.
func Unnamed(dir, text string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "dpl")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}
