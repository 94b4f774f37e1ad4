//go:build unix

package main

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writable returns the file at path, or the directory above it, in which this user could write or
// which it owns; or "" if there is none.
func writable(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", err
	}

	for at, is := real, "file"; ; at, is = filepath.Dir(at), "directory" {
		var info unix.Stat_t
		if err := unix.Stat(at, &info); err != nil {
			return "", &os.PathError{Op: "stat", Path: at, Err: err}
		}
		sticky := is == "directory" && info.Mode&unix.S_ISVTX != 0 // others' files in it are safe
		owns := int(info.Uid) == os.Geteuid()
		if owns || !sticky && unix.Faccessat(unix.AT_FDCWD, at, unix.W_OK, unix.AT_EACCESS) == nil {
			return is + " " + at, nil
		}
		if at == filepath.Dir(at) {
			return "", nil
		}
	}
}
