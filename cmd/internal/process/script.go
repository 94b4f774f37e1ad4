//go:build unix

package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// ExecLikeShell runs the program at path with argv by exec, which is execve(2), or fork(2) followed
// by it. If the kernel refuses, it does what a shell does: sh runs a text without #!. If an
// interpreter is missing, the error names it, because ENOENT alone seems to be about path.
func ExecLikeShell(exec func(path string, argv []string) error, path string, argv []string) error {
	err := exec(path, argv)
	switch err {
	case syscall.ENOEXEC:
		if !isText(path) {
			return err
		}
		script := path
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, ".") {
			script = "./" + path // sh takes this neither for an option nor for a name to look up
		}
		return exec("/bin/sh", append([]string{"sh", script}, argv[1:]...))
	case syscall.ENOENT:
		if name := interpreter(path); name != "" {
			return fmt.Errorf("its interpreter %q: %w", name, err)
		}
	}

	return err
}

// isText reports whether a shell would take the file at path for a text: its first line has no NUL.
func isText(path string) bool {
	return bytes.IndexByte(firstLine(path), 0) < 0
}

// interpreter returns the program named after #! in the first line of the file at path, or "".
func interpreter(path string) string {
	rest, found := bytes.CutPrefix(firstLine(path), []byte("#!"))
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(strings.Trim(string(rest), " \t"), " ")
	return name
}

// firstLine returns the first line of the file at path, or its first 256 bytes if that is longer.
// The kernel examines the same bytes.
func firstLine(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()

	text := make([]byte, 256)
	n, _ := io.ReadFull(f, text)
	line, _, _ := bytes.Cut(text[:n], []byte("\n"))
	return line
}
