// Check runs the parts of make check, and all of them whatever fails. A line for each says how long
// it took, and how much time of a processor.
//
//	go run ./scripts/check [PART...]        run these targets of the Makefile, or all parts
//	go run ./scripts/check -needs soak      exit 1 with one line if a program for that is missing
//
// It prints what is left out because a program is missing, and the output of a part only if that
// fails. The last line is "N passed, N failed". With STRICT in the environment, a missing program
// is a failure.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	needs := flag.String("needs", "", "only look for the programs of `WHAT`: check, soak or shared")
	flag.Parse()
	all, err := readTools()
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}

	if *needs != "" {
		if !all.complete(*needs, os.Stderr) {
			os.Exit(1)
		}
		return
	}

	c := checker{out: os.Stdout, strict: os.Getenv("STRICT") != ""}
	c.tools(all)
	parts := flag.Args()
	if len(parts) == 0 {
		parts = allParts
	}

	c.run(parts)
	if !c.finish() {
		os.Exit(1)
	}
}
