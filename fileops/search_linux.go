package fileops

import "golang.org/x/sys/unix"

// searchOnly opens a directory for nothing but to reach what is in it.
const searchOnly = unix.O_PATH
