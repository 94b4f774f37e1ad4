package attempt

import (
	"os"
)

// redirect does nothing: on this system a command writes to where dpl-work does.
func (a *attempt) redirect() error { return nil }

// redirect never comes to be called: no attempt is made on this system.
func redirect(_, _ *os.File) error { return nil }
