package process

import "os/exec"

// KillGroupOnCancel does nothing here: the context of cmd kills its process alone.
func KillGroupOnCancel(*exec.Cmd) {}
