package cli

import (
	"math"
	"math/rand/v2"
	"time"
)

// Transient reports whether to do again what failed with err may well succeed.
func Transient(err error) bool {
	status := StatusOf(err)
	return status == StatusBusy || status == StatusIO || status == StatusCommitted
}

// Jittered returns d and up to 13% more, as 200 ms are of 1.5 s: so that many do not send heartbeats in step. It returns at
// most the longest duration there is.
func Jittered(d time.Duration) time.Duration {
	most := min(d/15*2+d%15*2/15, math.MaxInt64-d)
	return d + time.Duration(rand.Int64N(int64(most)+1))
}
