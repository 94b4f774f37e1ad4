//go:build !linux

package process

import "github.com/dpl-project/dpl/protocol/observe"

// Ancestors returns nothing: no process can be identified.
func Ancestors() []observe.Process { return nil }
