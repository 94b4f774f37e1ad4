//go:build linux

package faults

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// root is the module.
const root = "../.."

// tries is the number of tries to hit a call. strace counts by thread, and Go moves between
// threads, often on a busy machine or a slow disk.
const tries = 400

// TestMain also acts as the stage of commands with a limit (see testShortWrites and testDescriptors),
// and as the tracer of commands that are several processes.
func TestMain(m *testing.M) {
	if limit := os.Getenv(limitVariable); limit != "" {
		execLimited(limit)
	}
	if order := os.Getenv(tracerVariable); order != "" {
		trace(order)
	}

	syscall.Umask(0o022)
	status := programs.Run(m, "strace")
	if shared.bin != "" {
		os.RemoveAll(shared.bin)
	}

	os.Exit(status)
}

const limitVariable = "DPL_FAULTS_LIMIT"

// execLimited executes the command in the arguments under a limit: "size N", for N bytes in a file, or
// "files N", for N open files more than those it inherits.
func execLimited(limit string) {
	kind, number, _ := strings.Cut(limit, " ")
	most, err := strconv.ParseUint(number, 10, 64)
	switch {
	case err != nil:
	case kind == "size":
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most})
	default:
		const inherited = 100
		for fd := 3; fd < inherited && err == nil; fd++ {
			err = unix.Dup2(0, fd)
		}
		if err == nil {
			err = unix.Setrlimit(unix.RLIMIT_NOFILE,
				&unix.Rlimit{Cur: inherited + most, Max: inherited + most})
		}
	}

	os.Unsetenv(limitVariable)
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}

	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(125)
}

// some returns those of all that have a turn: with time all, else about one in eight, and one at least.
// With DPL_SEED, which repeats what one of them did, all have one.
func some[T any](all []T) []T {
	if rig.Soak() || os.Getenv("DPL_SEED") != "" || len(all) == 0 {
		return all
	}

	always := rand.IntN(len(all))
	var chosen []T
	for i, one := range all {
		if i == always || rand.IntN(8) == 0 {
			chosen = append(chosen, one)
		}
	}
	return chosen
}

// chooser returns a source of random numbers for this test, and logs how to repeat them.
func chooser(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("DPL_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64() >> 32
	}
	t.Logf("DPL_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
