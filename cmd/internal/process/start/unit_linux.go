package start

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// SpawnUnit is like Spawn through systemd-run(1), with the keeper as the main process of unit. Use
// it inside a service (see InUnit). systemd sets umask, limits and control group, and systemctl
// stop ends all processes of the unit. The command gets the INVOCATION_ID of the unit. SpawnUnit
// fails within about 10 seconds, including when a unit of that name exists, systemd asks for a
// password, or the keeper has another network or pid namespace than this process. Whatever systemd
// starts after that exits and runs nothing.
func SpawnUnit(s Command, unit Unit) (*Gate, error) {
	if len(s.Argv) == 0 {
		return nil, errNoCommand
	}

	listener, address, err := listen()
	if err != nil {
		return nil, err
	}
	defer listener.Close()

	started := make(chan error, 1)
	go func() {
		err := systemdRun(unit, address)
		if err != nil {
			listener.SetReadDeadline(time.Now()) // no one will connect
		}
		started <- err
	}()

	conn, pid, err := accept(listener)
	if err != nil {
		if e := <-started; e != nil {
			err = e
		}
		return nil, fmt.Errorf("unit %q: %w", unit.Name, err)
	}

	g, err := gateOfUnit(s, conn, pid)
	if err != nil {
		return nil, fmt.Errorf("unit %q: %w", unit.Name, err)
	}

	if hungUp(conn) { // otherwise the stage existed all along, and the pid is its own
		g.Cancel()
		return nil, fmt.Errorf("unit %q: stage %d: %w", unit.Name, g.stage.PID, errUnbegun)
	}

	return g, nil
}

// gateOfUnit returns the gate of the stage of s, and takes over conn, whose other end is with the
// process pid, which becomes its keeper.
func gateOfUnit(s Command, conn *os.File, pid int) (*Gate, error) {
	conn.SetDeadline(time.Now().Add(patience))
	stage, err := 0, sameNamespace(pid)
	if err == nil {
		err = s.sendKeeper(conn)
	}
	r := bufio.NewReader(conn)
	if err == nil {
		s.Env, err = readInvocation(r, s.Env)
	}
	if err == nil {
		stage, err = readNumber(r) // nothing follows before Release
	}
	conn.SetDeadline(time.Time{})
	if err != nil {
		conn.Close() // the keeper and its stage end
		return nil, fmt.Errorf("keeper %d: %w", pid, err)
	}
	return newGate(s, conn, stage, pid)
}

// sameNamespace returns an error if pid is in another pid namespace, where numbers mean something
// else.
func sameNamespace(pid int) error {
	ours, err := os.Readlink("/proc/self/ns/pid")
	theirs, theirErr := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err == nil && theirErr == nil && ours != theirs {
		return errNotOurs
	}
	return errors.Join(err, theirErr)
}

// systemdRun makes systemd start a service whose main process becomes a keeper. It returns when
// systemd has done so, or after about 10 seconds.
func systemdRun(unit Unit, address string) error {
	// By name: if we are killed now, /proc/PID/exe may be any program by the time systemd executes
	// it.
	path, err := os.Executable()
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	args := []string{
		"--quiet", "--collect", "--no-ask-password",
		"--unit=" + unit.Name, "--description=" + unit.Name,
		// 0 would mean no timeout.
		fmt.Sprintf("--property=TimeoutStopSec=%dms", max(unit.StopTimeout.Milliseconds(), 1)),
		"--service-type=exec", // otherwise a failed exec by systemd would not be an error
		"--", path, unitFlag, address,
	}

	if unit.User {
		args = append([]string{"--user"}, args...)
	}

	cmd := exec.CommandContext(ctx, "systemd-run", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // a child that it leaves behind may hold stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("systemd-run: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}

	return nil
}

// listen returns an abstract socket and its address, which cannot be guessed. The socket is in the
// poller, is not inherited, and waits for a connection for 10 seconds.
func listen() (*os.File, string, error) {
	var random [16]byte
	if _, err := unix.Getrandom(random[:], 0); err != nil {
		return nil, "", os.NewSyscallError("getrandom", err)
	}

	address := "@dpl-" + hex.EncodeToString(random[:])
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, "", os.NewSyscallError("socket", err)
	}

	listener := os.NewFile(uintptr(fd), address)
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: address})
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err == nil {
		err = listener.SetReadDeadline(time.Now().Add(patience))
	}

	if err != nil {
		listener.Close()
		return nil, "", fmt.Errorf("listen %q: %w", address, err)
	}

	return listener, address, nil
}

// accept returns the first connection of a process of our own user, and its pid. It returns
// os.ErrDeadlineExceeded if none comes.
func accept(listener *os.File) (*os.File, int, error) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return nil, 0, err
	}

	for {
		var fd int
		var refused error
		err := raw.Read(func(listening uintptr) bool {
			fd, _, refused = unix.Accept4(int(listening), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
			return refused != unix.EAGAIN
		})

		if err != nil {
			return nil, 0, fmt.Errorf("no stage has connected: %w", err)
		}
		if refused != nil {
			return nil, 0, os.NewSyscallError("accept", refused)
		}
		if pid, err := peer(fd); err == nil {
			return os.NewFile(uintptr(fd), "gate"), pid, nil
		}

		unix.Close(fd)
	}
}

// hungUp reports whether the other end of conn, which has sent nothing, is closed.
func hungUp(conn *os.File) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}

	closed := false
	err = raw.Control(func(fd uintptr) {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = err != unix.EAGAIN
	})
	return closed || err != nil
}
