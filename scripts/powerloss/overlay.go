package powerloss

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
// or of both, and returns the value for go build's flag -overlay.
func Overlay(root, dir, without string) (string, error) {
	leftOut, known := map[string]string{WithoutFiles: "!isDir", WithoutDirectories: "isDir",
		WithoutAny: "isDir || !isDir"}[without]
	if !known {
		return "", fmt.Errorf("want %s, %s or %s, not %q", WithoutFiles, WithoutDirectories,
			WithoutAny, without)
	}

	original, err := filepath.Abs(filepath.Join(root, fsyncFile))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(original); err != nil {
		return "", err
	}

	source, overlay := filepath.Join(dir, without+".go"), filepath.Join(dir, without+".json")
	if err := os.WriteFile(source, fmt.Appendf(nil, lacking, leftOut), 0o600); err != nil {
		return "", err
	}

	data, err := json.Marshal(map[string]map[string]string{"Replace": {original: source}})
	if err != nil {
		return "", err
	}

	return overlay, os.WriteFile(overlay, data, 0o600)
}
