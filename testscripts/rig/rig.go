// Package rig has what the rigs in scripts share. A rig disturbs many real processes, and judges
// what became of them. The random choices of a run depend on one number, with which it can be
// repeated.
package rig

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Soak reports whether a rig should run for longer than CI has time for.
func Soak() bool { return os.Getenv("DPL_SOAK") != "" }

// Seed returns $DPL_SEED, or a new number, and logs it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	n := rand.Uint64() >> 1
	if given := os.Getenv("DPL_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("DPL_SEED: %v", err)
		}
	}
	t.Logf("DPL_SEED=%d", n)
	return n
}
