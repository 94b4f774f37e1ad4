// Package parallel spreads work over the processors.
package parallel

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dpl-project/dpl/cmd/internal/entry"
)

// few is how many items are not worth a second processor, each of them some microseconds of work.
const few = 32

// Each calls work on each processor, with the numbers from 0 to n-1 that this call has to do. It
// returns when all have returned. One of the calls is its own, and the only one if there are few.
func Each(n int, work func(mine iter.Seq[int])) {
	var next atomic.Int64
	mine := func(yield func(int) bool) {
		for i := next.Add(1) - 1; i < int64(n) && yield(int(i)); i = next.Add(1) - 1 {
		}
	}

	var group sync.WaitGroup
	if n >= few {
		entry.UseProcessors()
		for range runtime.GOMAXPROCS(0) - 1 {
			group.Go(func() { work(mine) })
		}
	}
	work(mine)
	group.Wait()
}
