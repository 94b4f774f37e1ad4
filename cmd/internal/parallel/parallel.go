// Package parallel spreads work over the processors.
package parallel

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// few is how many items are not worth a second processor, each of them some microseconds of work.
const few = 32

// Each calls work on each processor, with the numbers from 0 to n-1 that this call has to do. It
// returns when all have returned. If there are few, it only calls work once, itself.
func Each(n int, work func(mine iter.Seq[int])) {
	var next atomic.Int64
	mine := func(yield func(int) bool) {
		for i := next.Add(1) - 1; i < int64(n) && yield(int(i)); i = next.Add(1) - 1 {
		}
	}

	if n < few {
		work(mine)
		return
	}

	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() { work(mine) })
	}
	group.Wait()
}
