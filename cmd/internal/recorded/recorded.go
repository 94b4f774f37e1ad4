// Package recorded verifies the records of objects (spec §55), for dpl-audit and dpl-doctor.
package recorded

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
)

// Verify is object.Verify on all processors.
func Verify(object fileops.Audited, v *audit.Verifier) (record.End, error) {
	return object.Verify(v, feed)
}

// batchSize is how many lines a processor parses at a time.
const batchSize = 128

// batches are lines that are parsed by several processors.
type batches struct {
	lines  []string
	parsed []audit.Line
	errs   []error
	next   atomic.Int64    // the batch that nobody has begun
	done   []chan struct{} // closed, by batch
}

// parse parses the next batch, and reports whether there was one.
func (b *batches) parse() bool {
	n := int(b.next.Add(1)) - 1
	if n >= len(b.done) {
		return false
	}
	for i := n * batchSize; i < min(len(b.lines), (n+1)*batchSize); i++ {
		b.parsed[i], b.errs[i] = audit.Parse(b.lines[i])
	}
	close(b.done[n])
	return true
}

// wait returns when batch n is parsed. Meanwhile it parses others.
func (b *batches) wait(n int) {
	for {
		select {
		case <-b.done[n]:
			return
		default:
			if !b.parse() {
				<-b.done[n]
				return
			}
		}
	}
}

// feed gives lines to v, some thousand at a time: what is parsed takes more memory than the text.
func feed(v *audit.Verifier, lines []string) {
	for some := range slices.Chunk(lines, 64*batchSize) {
		feedSome(v, some)
	}
}

// feedSome gives lines to v, which takes them one after the other, while other processors parse the
// next.
func feedSome(v *audit.Verifier, lines []string) {
	b := &batches{lines: lines, parsed: make([]audit.Line, len(lines)),
		errs: make([]error, len(lines)),
		done: make([]chan struct{}, (len(lines)+batchSize-1)/batchSize)}
	for n := range b.done {
		b.done[n] = make(chan struct{})
	}

	var others sync.WaitGroup
	if len(b.done) > 1 {
		entry.UseProcessors()
	}
	for range min(len(b.done), runtime.GOMAXPROCS(0)) - 1 {
		others.Go(func() {
			for b.parse() {
			}
		})
	}
	for i := range lines {
		if i%batchSize == 0 {
			b.wait(i / batchSize)
		}
		v.Line(b.parsed[i], b.errs[i])
	}
	others.Wait()
}
