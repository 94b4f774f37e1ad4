package process

import "os/exec"

// Contain does nothing here.
func Contain(*exec.Cmd) {}
