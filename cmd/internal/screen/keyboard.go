package screen

import "os"

// A Keyboard sends what is typed on the terminal on stdin, key by key, and the terminal does not
// show it. Ctrl-C, Ctrl-Z and Ctrl-\ still send signals.
type Keyboard struct {
	fd     int
	before *modes // nil: the terminal is as it was
	typed  chan string
}

// Listen begins to read the keyboard. If stdin is no terminal, what it returns sends nothing, and
// is deaf.
func Listen() *Keyboard {
	k := &Keyboard{fd: int(os.Stdin.Fd())}
	k.Take()
	if k.before == nil {
		return k
	}

	k.typed = make(chan string)
	go func() {
		var text [256]byte
		for {
			n, err := os.Stdin.Read(text[:])
			if err != nil {
				return // nobody types any more
			}
			k.typed <- string(text[:n])
		}
	}()
	return k
}

// Deaf reports whether there is no keyboard.
func (k *Keyboard) Deaf() bool { return k.typed == nil }

// Typed returns the channel on which k sends.
func (k *Keyboard) Typed() <-chan string { return k.typed }

// Take makes the terminal send single keys, also if another program has set it otherwise meanwhile.
func (k *Keyboard) Take() {
	if before, err := single(k.fd); err == nil && k.before == nil {
		k.before = before
	}
}

// Return sets the terminal as it was.
func (k *Keyboard) Return() {
	if k.before != nil {
		k.before.set(k.fd)
		k.before = nil
	}
}
