//go:build unix

package status

import (
	"os"
	"os/signal"
	"syscall"
)

// signals are the signals that matter while drawing on a terminal.
type signals struct {
	resized, stopped, continued, ended chan os.Signal
}

func catchSignals() *signals {
	s := &signals{make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1),
		make(chan os.Signal, 1)}
	signal.Notify(s.resized, syscall.SIGWINCH)
	signal.Notify(s.stopped, syscall.SIGTSTP)
	signal.Notify(s.continued, syscall.SIGCONT)
	signal.Notify(s.ended, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	return s
}

func (s *signals) restore() {
	signal.Stop(s.resized)
	signal.Stop(s.stopped)
	signal.Stop(s.continued)
	signal.Stop(s.ended)
}

// stop stops this process as the terminal asks, and returns when it continues.
func (s *signals) stop() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-again
}

// die ends this process by sig, so that a script running it ends as well.
func (s *signals) die(sig os.Signal) {
	if sig == syscall.SIGQUIT { // for which Go would print all goroutines
		os.Exit(128 + int(syscall.SIGQUIT))
	}
	signal.Reset(sig)
	syscall.Kill(os.Getpid(), sig.(syscall.Signal))
	select {}
}
