// Package demo holds the files of the demo, which demo.sh begins.
package demo

import "embed"

// Files are the files of the demo. They must be in one directory.
//
//go:embed *.sh worker.*
var Files embed.FS

// Script is the name of the file in Files to run with a shell, with the directory of the commands
// as its argument.
const Script = "demo.sh"

// LockFD is the number of a file descriptor that the script does not use for anything else.
const LockFD = 5
