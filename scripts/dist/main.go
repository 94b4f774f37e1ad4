// Dist makes the files of a release of what the Makefile has built and staged, for "make dist".
//
//	SOURCE_DATE_EPOCH=SECONDS go run ./scripts/dist -version V -stage DIRECTORY -out DIRECTORY PLATFORM...
//
// For each platform it makes dpl-V-PLATFORM.tar.gz, for Windows .zip, and a bill of materials
// dpl-V-PLATFORM.cdx.json; for Linux also packages for dpkg, rpm and apk. Of them all it makes
// dpl.rb, a formula for Homebrew, and SHA256SUMS. Their bytes depend only on the sources and on the
// version of Go: everything in them has the time SOURCE_DATE_EPOCH and the owner 0:0, and is sorted
// by name. It runs wherever Go does, and needs neither tar nor dpkg.
//
// In the stage are PLATFORM/, the commands; archive/usr/local and package/usr, what make install
// puts below these prefixes.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	r := release{bills: true}
	stage := flag.String("stage", "bin/stage", "where the Makefile has put what is to be packed")
	out := flag.String("out", "bin/dist", "where the packages go")
	flag.StringVar(&r.version, "version", "", "what git describe says")
	flag.Parse()
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		fail(fmt.Errorf("SOURCE_DATE_EPOCH: %w", err))
	}

	r.time = time.Unix(seconds, 0).UTC()
	if r.licences, err = allLicences(flag.Args()); err != nil {
		fail(err)
	}
	if err := r.make(*stage, *out, flag.Args()); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "dist:", err)
	os.Exit(1)
}
