//go:build !linux

package process

import "github.com/dpl-project/dpl/protocol/observe"

// Ancestors returns nothing, and false: no process can be identified.
func Ancestors() (all []observe.Process, whole bool) { return nil, false }
