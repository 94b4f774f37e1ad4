package status

import (
	"os"
	"os/signal"
)

// signals are the signals that matter while drawing on a terminal. Here none reports a new size of
// the console.
type signals struct {
	resized, stopped, continued, ended chan os.Signal
}

func catchSignals() *signals {
	s := &signals{ended: make(chan os.Signal, 1)}
	signal.Notify(s.ended, os.Interrupt)
	return s
}

func (s *signals) restore() { signal.Stop(s.ended) }

func (s *signals) stop() {}

// die ends this process as Ctrl-C does.
func (s *signals) die(os.Signal) {
	const interrupted = 130
	os.Exit(interrupted)
}
