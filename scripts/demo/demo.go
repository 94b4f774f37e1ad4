// Package demo holds the files of the demo, which demo.sh begins.
package demo

import "embed"

// Files are what the demo consists of. All are to be in one directory.
//
//go:embed *.sh worker.*
var Files embed.FS

// Script is the name of the one among Files that a shell is to run, with the directory of the
// commands as its argument.
const Script = "demo.sh"
