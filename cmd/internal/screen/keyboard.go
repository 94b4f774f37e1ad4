package screen

import "os"

// A Keyboard sends what is typed on the terminal on stdin, key by key, and the terminal does not
// show it. Ctrl-C, Ctrl-Z and Ctrl-\ still send signals.
type Keyboard struct {
	fd     int
	before *modes // nil: the terminal is as it was, and nobody reads it
	typed  chan string
	stop   func()
}

// NewKeyboard returns the keyboard of the terminal on stdin, from which nothing is taken yet.
func NewKeyboard() *Keyboard {
	return &Keyboard{fd: int(os.Stdin.Fd()), typed: make(chan string)}
}

// Typed returns the channel on which k sends.
func (k *Keyboard) Typed() <-chan string { return k.typed }

// Take makes the terminal send single keys, and begins to read them. It reports false if stdin is no
// terminal, or not that of this process: then nothing is sent. It may be called again, for the case
// that another program has changed the terminal meanwhile.
func (k *Keyboard) Take() bool {
	before, err := single(k.fd)
	switch {
	case err != nil:
		return false
	case k.before == nil:
		k.before, k.stop = before, listen(k.fd, k.typed)
	}
	return true
}

// Return stops reading, and sets the terminal as it was. What is typed after that is for others.
func (k *Keyboard) Return() {
	if k.before != nil {
		k.stop()
		k.before.set(k.fd)
		k.before = nil
	}
}
