package simulation

import "iter"

// coroutine is a stack on which programs run one after the other. A new one for each would have to
// grow every time.
type coroutine struct {
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	program func()
}

// coroutine returns one that waits for a program.
func (w *world) coroutine() *coroutine {
	if n := len(w.idle); n > 0 {
		c := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return c
	}

	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for yield(struct{}{}) {
			c.program()
		}
	})

	c.next()
	return c
}

// close ends the coroutines.
func (w *world) close() {
	for _, c := range w.idle {
		c.stop()
	}
	w.idle = nil
}
