package process

import "os/exec"

// Contain does nothing here.
func Contain(*exec.Cmd) (release func()) { return func() {} }
