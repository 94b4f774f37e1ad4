package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalSize returns the size of the console that stdout is, and whether it is one that obeys escape sequences.
func terminalSize() (width, height int, terminal bool) {
	console := windows.Handle(os.Stdout.Fd())
	var mode uint32
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleMode(console, &mode) != nil || mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING == 0 ||
		windows.GetConsoleScreenBufferInfo(console, &info) != nil {
		return 0, 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, true
}
