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
	file     *os.File // in the runtime's poller: waiting takes no thread, and Close ends it
	conn     syscall.RawConn
	messages chan Message
	close    sync.Once
	closed   chan struct{}

	text, control []byte // buffers of run, which receives one datagram at a time
}

// Listen opens a notification socket. Children do not inherit it. The caller must close it.
func Listen() (*Socket, error) {
	var random [8]byte
	if _, err := unix.Getrandom(random[:], 0); err != nil {
		return nil, os.NewSyscallError("getrandom", err)
	}

	address := "@dpl-" + hex.EncodeToString(random[:])
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}

	file := os.NewFile(uintptr(fd), address)
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1) // before anyone can send
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: address})
	}

	conn, refused := file.SyscallConn()

	// An error here is the only sign that the poller did not take the file; Close would then not
	// end the wait.
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

// Address returns the value of NOTIFY_SOCKET for senders.
func (s *Socket) Address() string {
	return s.address
}

// Messages returns the channel of all messages, in the order sent. While no one receives from it,
// datagrams wait in the socket; once that is full (net.unix.max_dgram_qlen datagrams), senders
// wait. It is closed by Close, and after Finish once everything sent before is delivered.
func (s *Socket) Messages() <-chan Message {
	return s.messages
}

// Finish refuses all further datagrams: their senders get EPIPE. Earlier ones are still delivered;
// then Messages is closed.
func (s *Socket) Finish() {
	s.conn.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	s.file.SetReadDeadline(time.Now()) // wakes run, after the last datagram
}

// Close closes the socket and Messages. Undelivered messages are lost. Senders waiting for room or
// at an undelivered barrier are released; the receiver of a delivered barrier must still close it.
// If the socket is closed already, Close does nothing and returns os.ErrClosed.
func (s *Socket) Close() error {
	s.close.Do(func() { close(s.closed) })
	return s.file.Close()
}

func (s *Socket) run() {
	defer close(s.messages)
	for {
		m, err := s.next()
		if err != nil {
			s.Finish() // whatever the error, no sender must keep waiting
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

// next waits for a datagram and returns its message, which may be zero. It returns EAGAIN if no
// more can come because of Finish.
func (s *Socket) next() (m Message, err error) {
	receive := func(fd uintptr) bool {
		m, err = s.receive(int(fd))
		return err != unix.EAGAIN
	}

	waited := s.conn.Read(receive)
	if errors.Is(waited, os.ErrDeadlineExceeded) { // the socket is shut down, so no more datagrams come
		waited = s.conn.Control(func(fd uintptr) { receive(fd) })
	}
	if waited != nil {
		return Message{}, waited
	}
	return m, err
}

// receive takes a datagram from fd and returns its message, or EAGAIN if there is none. It closes
// all descriptors that came with it except a barrier's.
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

	// MSG_CTRUNC: the process has run out of descriptors, and some are missing.
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

// unpack returns the descriptors in a datagram's control messages, and whether the sender is our
// user or root.
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
