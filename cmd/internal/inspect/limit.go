package inspect

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime/metrics"
	"time"

	"github.com/dpl-project/dpl/protocol/check"
)

// mostMemory is how much memory an attempt may take, in bytes, which is looked at every memoryEvery. A
// schema that refers to itself takes that much on a short text.
const (
	mostMemory  = 512 << 20
	memoryEvery = 20 * time.Millisecond
)

// within returns what f returns, or an error if a limit of a comes first. Then f may still run: no
// search, and nothing about a schema, can be stopped but by the end of this process.
func within[T any](a *Attempt, f func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	select {
	case <-a.over:
		a.exceeded = cmp.Or(a.exceeded, a.errTime())
	default:
	}
	if a.exceeded != nil {
		return value, a.exceeded
	}

	found := make(chan result, 1)
	go func() {
		value, err := f()
		found <- result{value, err}
	}()
	look := time.NewTicker(memoryEvery)
	defer look.Stop()
	for {
		select {
		case r := <-found:
			return r.value, r.err
		case <-a.over:
			a.exceeded = a.errTime()
			return value, a.exceeded
		case <-look.C:
			if memory() > mostMemory {
				a.exceeded = fmt.Errorf("all that is looked at takes more than %d MiB of memory",
					mostMemory>>20)
				return value, a.exceeded
			}
		}
	}
}

func (a *Attempt) errTime() error {
	return fmt.Errorf("all that is looked at takes more than %v", a.Limit)
}

// memory returns how many bytes the values of this process have.
func memory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// after returns a channel that is closed when d is over.
func after(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return over
}

// Matches is that of check.Attempt. A pattern with *, ? or [ ] names no directories, and finds
// nothing behind symbolic links that lead out.
func (a *Attempt) Matches(p check.Pattern) ([]string, error) {
	return within(a, func() ([]string, error) { return a.matches(p) })
}

// Look is that of check.Attempt.
func (a *Attempt) Look(path string) (check.Stamp, error) {
	return within(a, func() (check.Stamp, error) { return a.look(path) })
}

// Read is that of check.Attempt.
func (a *Attempt) Read(path string) (string, error) {
	return within(a, func() (string, error) { return a.read(path) })
}

// Search is that of check.Attempt.
func (a *Attempt) Search(expr *regexp.Regexp, text string) ([]int, error) {
	return within(a, func() ([]int, error) { return expr.FindStringIndex(text), nil })
}

// Conforms is that of check.Attempt.
func (a *Attempt) Conforms(s check.Shape, text string) error {
	_, err := within(a, func() (struct{}, error) { return struct{}{}, a.conforms(s, text) })
	return err
}
