package main

import (
	"os"
	"os/signal"
)

// signals are those that a drawing on a terminal heeds; here none tells that the console has another size.
type signals struct {
	resized, stopped, ended chan os.Signal
}

func heed() *signals {
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
