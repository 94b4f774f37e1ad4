package sdnotify

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	longestDatagram = 4096 // bytes, as systemd's NOTIFY_BUFFER_MAX
	mostDescriptors = 253  // in one datagram: the kernel's SCM_MAX_FD
)

// Socket is a notification socket. Its methods may be called concurrently.
type Socket struct {
	address  string
	file     *os.File // in the runtime's poller, so that waiting takes no thread and Close ends it
	conn     syscall.RawConn
	messages chan Message
	close    sync.Once
	closed   chan struct{}

	text, control []byte // of run, which takes in one datagram at a time
}

// Listen opens a notification socket, which no child inherits. The caller closes it.
func Listen() (*Socket, error) {
	var random [8]byte
	if _, err := unix.Getrandom(random[:], 0); err != nil {
		return nil, os.NewSyscallError("getrandom", err)
	}
	address := "@dpl-run-" + hex.EncodeToString(random[:])
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), address)
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1) // before anybody can send
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: address})
	}
	conn, refused := file.SyscallConn()
	// The only way to learn that the poller did not take it: then Close would not end the wait.
	if err := errors.Join(err, refused, file.SetReadDeadline(time.Time{})); err != nil {
		file.Close()
		return nil, fmt.Errorf("listen %q: %w", address, err)
	}
	s := &Socket{
		address:  address,
		file:     file,
		conn:     conn,
		messages: make(chan Message),
		closed:   make(chan struct{}),
		text:     make([]byte, longestDatagram),
		control:  make([]byte, unix.CmsgSpace(unix.SizeofUcred)+unix.CmsgSpace(mostDescriptors*4)),
	}
	go s.run()
	return s, nil
}

// Address returns what NOTIFY_SOCKET is to be for the senders.
func (s *Socket) Address() string {
	return s.address
}

// Messages returns the channel of all messages, in the order in which they were sent. While nobody receives from it, what
// is sent waits in the socket, and once that is full (net.unix.max_dgram_qlen datagrams), so do the senders. It is closed
// after Finish, when all that had been sent is delivered, and after Close.
func (s *Socket) Messages() <-chan Message {
	return s.messages
}

// Finish refuses all further datagrams: whoever sends one gets EPIPE. Those sent before are still delivered, then Messages
// is closed.
func (s *Socket) Finish() {
	s.conn.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	s.file.SetReadDeadline(time.Now()) // wakes run, after the last datagram
}

// Close closes the socket and Messages. What is not delivered yet is lost, and whoever waits for a barrier in it is
// released, as is whoever waits to send. A barrier already delivered remains its receiver's to close. Close does nothing,
// and returns os.ErrClosed, if the socket is closed.
func (s *Socket) Close() error {
	s.close.Do(func() { close(s.closed) })
	return s.file.Close()
}

func (s *Socket) run() {
	defer close(s.messages)
	for {
		m, err := s.next()
		if err != nil {
			s.Finish() // whatever it is: nobody shall wait to send
			return
		}
		if m == (Message{}) {
			continue
		}
		select {
		case s.messages <- m:
		case <-s.closed:
			if m.Barrier != nil {
				m.Barrier.Close()
			}
			return
		}
	}
}

// next waits for a datagram and returns what it says, which may be nothing. It returns EAGAIN if none can come any more
// because of Finish.
func (s *Socket) next() (m Message, err error) {
	receive := func(fd uintptr) bool {
		m, err = s.receive(int(fd))
		return err != unix.EAGAIN
	}
	waited := s.conn.Read(receive)
	if errors.Is(waited, os.ErrDeadlineExceeded) { // so the socket is shut: what is in it is all there will be
		waited = s.conn.Control(func(fd uintptr) { receive(fd) })
	}
	if waited != nil {
		return Message{}, waited
	}
	return m, err
}

// receive takes a datagram from fd and returns what it says, or EAGAIN if there is none. Of the descriptors that came with
// it, all are closed but that of a barrier.
func (s *Socket) receive(fd int) (m Message, err error) {
	var n, controls, flags int
	for err = unix.EINTR; err == unix.EINTR; {
		n, controls, flags, _, err = unix.Recvmsg(fd, s.text, s.control, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return Message{}, err
	}
	descriptors, trusted := unpack(s.control[:controls])
	var barrier bool
	// MSG_CTRUNC: we have run out of descriptors, and some are missing.
	if trusted && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) == 0 {
		m, barrier = parse(s.text[:n])
	}
	if barrier && len(descriptors) == 1 {
		return Message{Barrier: os.NewFile(uintptr(descriptors[0]), "barrier")}, nil
	}
	for _, d := range descriptors {
		unix.Close(d)
	}
	return m, nil
}

// unpack returns the descriptors in a datagram's control messages, and whether the sender is our user or root.
func unpack(control []byte) (descriptors []int, trusted bool) {
	messages, _ := unix.ParseSocketControlMessage(control) // the kernel wrote them
	for _, c := range messages {
		if fds, err := unix.ParseUnixRights(&c); err == nil {
			descriptors = append(descriptors, fds...)
		}
		if sender, err := unix.ParseUnixCredentials(&c); err == nil {
			trusted = sender.Uid == 0 || int(sender.Uid) == os.Geteuid()
		}
	}
	return descriptors, trusted
}
