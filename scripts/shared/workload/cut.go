//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// parting repeatedly cuts host a off until done is closed, each time for longer than a lease, so
// that host b continues in the middle of host a's edits. In the end host a is back. It returns the
// number of cuts.
func (r *rig) parting(done <-chan struct{}) (cuts int) {
	for ; cuts < r.cuts; cuts++ {
		select {
		case <-done:
			return cuts
		case <-time.After(r.apart):
		}

		shell(r.cut)
		select {
		case <-done:
		case <-time.After(r.lease):
		}

		shell(r.heal)
	}

	return cuts
}

func shell(command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Printf("%s: %v\n", command, err)
	}
}
