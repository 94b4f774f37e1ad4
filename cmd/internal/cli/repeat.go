package cli

import (
	"math/rand/v2"
	"time"
)

// Transient reports whether to do again what failed with err may well succeed.
func Transient(err error) bool {
	status := StatusOf(err)
	return status == StatusBusy || status == StatusIO || status == StatusCommitted
}

// Jittered returns d and up to 13% more, as 200 ms are of 1.5 s: so that many do not beat in step.
func Jittered(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)*2/15+1))
}
