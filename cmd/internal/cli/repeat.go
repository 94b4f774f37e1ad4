package cli

import (
	"math"
	"math/rand/v2"
	"time"
)

// Transient reports whether an action that failed with err may succeed if repeated.
func Transient(err error) bool {
	status := StatusOf(err)
	return saysUnchanged(status) || status == StatusCommitted
}

// Jittered returns d plus up to 13%, such as 200 ms for 1.5 s, so that many processes do not send
// heartbeats in step. It never exceeds the longest duration.
func Jittered(d time.Duration) time.Duration {
	most := min(d/15*2+d%15*2/15, math.MaxInt64-d)
	return d + time.Duration(rand.Int64N(int64(most)+1))
}
