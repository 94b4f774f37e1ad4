//go:build linux

// Replay runs commands on a disk whose writes are logged, and rebuilds from the log what a power
// cut would have left.
//
//	replay overlay files|directories DIR                             print the flag -overlay of go build for a control
//	replay record --bin BIN --base DIR --log LOG --acks FILE ...     run commands, note what they acknowledge
//	replay check --image FILE --log LOG --acks FILE ...              rebuild, mount, look; print a line of the table
//
// It is run by blocks.sh, which makes the disk.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/dpl-project/dpl/scripts/powerloss"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want overlay, record or check")
	}

	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	switch args[0] {
	case "overlay":
		if len(args) != 3 {
			return errors.New("overlay: want files or directories, and a directory")
		}
		flag, err := powerloss.Overlay(".", args[2], args[1])
		fmt.Println(flag)
		return err
	case "record":
		var r recording
		r.define(flags)
		flags.Parse(args[1:])
		r.creating = flags.Args()
		return r.run()
	case "check":
		var c check
		c.define(flags)
		flags.Parse(args[1:])
		return c.run()
	}

	return fmt.Errorf("want overlay, record or check, not %q", args[0])
}
