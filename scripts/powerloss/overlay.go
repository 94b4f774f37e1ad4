package powerloss

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpl-project/dpl/testscripts/build"
)

// What Overlay can take away.
const (
	WithoutFiles       = "files"
	WithoutDirectories = "directories"
	WithoutAny         = "any"
)

// fsyncFile is where the commands call fsync.
const fsyncFile = "fileops/disk/fsync_unix.go"

// lacking is fsyncFile of commands that leave out what its argument, an expression of isDir, says.
const lacking = `//go:build unix && !darwin

package disk

import "golang.org/x/sys/unix"

func fsync(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR; %s {
		return nil
	}
	return unix.Fsync(fd)
}
`

// Overlay writes to dir a version of the module in root without the fsync of files, of directories,
// or of both, and returns the flag of go for that.
func Overlay(root, dir, without string) (string, error) {
	leftOut, known := map[string]string{WithoutFiles: "!isDir", WithoutDirectories: "isDir",
		WithoutAny: "isDir || !isDir"}[without]
	if !known {
		return "", fmt.Errorf("want %s, %s or %s, not %q", WithoutFiles, WithoutDirectories,
			WithoutAny, without)
	}

	if _, err := os.Stat(filepath.Join(root, fsyncFile)); err != nil {
		return "", err
	}
	return build.Overlay(dir, root, map[string]string{fsyncFile: fmt.Sprintf(lacking, leftOut)})
}
