package start

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// unitFlag is the first argument of the process that systemd starts for SpawnUnit. The second is
// the address of the gate. Nothing else is told through systemd, which would expand it and show it
// to everybody. It also names what follows on the connection:
//
//	pass   → keeper  the arguments and the environment of the keeper: two lists
//	keeper → pass    its INVOCATION_ID: a list of one, or none
//	                 the pid of its stage (see keep), and from then on the gate of the stage
const unitFlag = "--dpl-unit1"

const invocation = "INVOCATION_ID"

// becomeKeeper makes this process, the main one of a unit, the keeper that the pass at address
// describes. It ends this process if it cannot: then nothing runs.
func becomeKeeper(address string) {
	conn, err := dial(address)
	if err != nil {
		os.Exit(0) // the pass has died in the meantime
	}

	argv, env, err := readKeeper(conn)
	if err == nil {
		err = asKeeper(conn)
	}
	if err == nil {
		_ = process.WithSignalsBlocked(func() { err = syscall.Exec("/proc/self/exe", argv, env) })
	}
	os.Exit(1)
}

// sendKeeper tells the process at the other end of conn how it becomes the keeper of s.
func (s Command) sendKeeper(conn *os.File) error {
	argv, env := s.keeping()
	_, err := conn.Write(appendList(appendList(nil, argv), env))
	return err
}

// readKeeper reads what tellKeeper writes, and answers with the INVOCATION_ID of this process,
// which it adds to env.
func readKeeper(conn *os.File) (argv, env []string, err error) {
	r := bufio.NewReader(conn)
	if argv, err = readList(r); err == nil {
		env, err = readList(r)
	}
	if err != nil {
		return nil, nil, err
	}

	var ids []string
	if id := os.Getenv(invocation); id != "" {
		ids = []string{id}
		env = append(env, invocation+"="+id)
	}
	_, err = conn.Write(appendList(nil, ids))
	return argv, env, err
}

// readInvocation reads the answer of readKeeper, and returns env with that INVOCATION_ID.
func readInvocation(r *bufio.Reader, env []string) ([]string, error) {
	ids, err := readList(r)
	if err != nil || len(ids) == 0 {
		return env, err
	}
	return withInvocation(env, ids[0]), nil
}

// withInvocation returns env with this INVOCATION_ID.
func withInvocation(env []string, id string) []string {
	others := slices.DeleteFunc(slices.Clone(env),
		func(entry string) bool { return strings.HasPrefix(entry, invocation+"=") })
	return append(others, invocation+"="+id)
}

// asKeeper gives this process what the keeper of a direct start has from its pass: a session, no
// terminal and no log, and the gate.
func asKeeper(conn *os.File) error {
	if err := becomeSessionLeader(); err != nil {
		return err
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}

	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup2(null, fd); err != nil {
			return err
		}
	}

	if gate := int(conn.Fd()); gate != stageGate {
		return unix.Dup2(gate, stageGate)
	}
	_, err = unix.FcntlInt(stageGate, unix.F_SETFD, 0)
	return err
}
