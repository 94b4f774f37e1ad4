// Dpl-register registers a service with its group, or removes it, or
// registers all of a file.
//
//	dpl-register --group GROUP --service ID [--pid N] [--depends-on ID...] [-- COMMAND [ARG...]]
//	dpl-register --group GROUP --service ID --request [--depends-on ID...] [-- COMMAND [ARG...]]
//	dpl-register --group GROUP --service ID --remove
//	dpl-register --group GROUP --file FILE [--prune]
//	dpl-register --group GROUP --resume
//	dpl-register --group GROUP --service ID --silence D|off
//	dpl-register --group GROUP --service ID --maintenance D|off
//
// Spec §10.1, §10.2, §23.4, §30.3, §30.4,
// §31.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/register"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	register.Main()
}
