package sdnotify

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	s, n := listen(t), room(t)
	for i := range n {
		mustSend(t, s, fmt.Sprintf("STATUS=%d", i))
	}

	mustSend(t, s, "STOPPING=1")
	s.Finish()
	if err := send(s.Address(), "STATUS=too late"); err != unix.EPIPE {
		t.Errorf("send: %v, want EPIPE", err)
	}

	s.Finish()
	for i := range n {
		mustSay(t, s, fmt.Sprintf(`"%d"`, i))
	}

	mustSay(t, s, "stopping")
	mustEnd(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// It makes no difference whether the socket is being read at that moment.
func TestFinishAtOnce(t *testing.T) {
	t.Parallel()
	for range 500 {
		s := listen(t)
		mustSend(t, s, "STATUS=1")
		mustSay(t, s, `"1"`)
		mustSend(t, s, "STOPPING=1")
		s.Finish()
		mustSay(t, s, "stopping")
		mustEnd(t, s)
		s.Close()
	}

	for range 500 {
		s := listen(t)
		s.Finish()
		mustEnd(t, s)
		s.Close()
	}
}

// Senders that never stop do not delay the end, and each learns which of its datagrams was the last
// to arrive.
func TestFinishAmidSenders(t *testing.T) {
	t.Parallel()
	s := listen(t)
	const senders = 4
	last := make(chan int, senders)
	for sender := range senders {
		go func() { last <- flood(s.Address(), sender) }()
	}

	got, all := 0, 0
	for range s.Messages() {
		if got++; got == 2000 {
			s.Finish()
		}
	}

	s.Close() // each received datagram has woken one of the waiting senders, and no other
	for range senders {
		all += <-last
	}

	if got != all || got < 2000 {
		t.Errorf("%d arrived of %d", got, all)
	}
}

// Every datagram that was sent without an error is delivered, even if the socket becomes empty
// again and again.
func TestFinishLosesNothing(t *testing.T) {
	t.Parallel()
	for range 500 {
		s := listen(t)
		last := make(chan int, 1)
		go func() { last <- flood(s.Address(), 0) }()
		mustSay(t, s, `"0 0"`)
		go s.Finish()
		got := 1
		for range s.Messages() {
			got++
		}

		if sent := <-last; got != sent {
			t.Fatalf("%d arrived of %d", got, sent)
		}

		s.Close()
	}
}

// flood sends until an error, and returns the number of datagrams sent. It waits while there is no
// room.
func flood(address string, sender int) int {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	for n := 0; ; n++ {
		if unix.Sendto(fd, fmt.Appendf(nil, "STATUS=%d %d", sender, n), 0,
			&unix.SockaddrUnix{Name: address}) != nil {
			return n
		}
	}
}

// Close wakes senders without room, senders at a barrier, and the reader of Messages.
func TestCloseUnblocks(t *testing.T) {
	t.Parallel()
	s := listen(t)
	held, queued := wait(t), wait(t)
	held.mustSend(t, s, "BARRIER=1", 1)
	queued.mustSend(t, s, "BARRIER=1", 1)
	var err error
	for err == nil {
		err = send(s.Address(), "READY=1")
	}

	if !errors.Is(err, unix.EAGAIN) {
		t.Fatalf("it is not full: %v", err)
	}

	const senders = 20
	ended := make(chan int, senders)
	for sender := range senders {
		go func() { ended <- flood(s.Address(), sender) }()
	}

	if held.released() || queued.released() {
		t.Error("released before anybody received it")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	held.mustBeReleased(t)
	queued.mustBeReleased(t)
	for range senders {
		select {
		case <-ended:
		case <-time.After(poll.Patience):
			t.Fatal("a sender still waits")
		}
	}

	mustEnd(t, s)

	s = listen(t)
	listened := make(chan struct{})
	go func() {
		for range s.Messages() {
		}
		close(listened)
	}()

	mustSend(t, s, "READY=1")
	s.Close()
	select {
	case <-listened:
	case <-time.After(poll.Patience):
		t.Error("somebody still listens")
	}
}

// A barrier without a waiter, or one that no one has received before the end, is like any other
// message.
func TestFinishBarrier(t *testing.T) {
	t.Parallel()
	s, w := listen(t), wait(t)
	w.mustSend(t, s, "BARRIER=1", 1)
	s.Finish()
	m := mustSay(t, s, "barrier")
	mustEnd(t, s)
	s.Close()
	if w.released() {
		t.Error("Close released a barrier that was delivered")
	}

	m.Barrier.Close()
	w.mustBeReleased(t)
}
