// Package start starts services that outlive the pass that starts them.
//
// A service begins as a stage: a process that already has its pid and start time, but runs nothing
// yet. So a pass can record in the ledger which process it is before its command begins. The pass
// holds the other end of a connection, the [Gate], and lets the stage become the [Command]. If the
// pass dies before that, the stage ends and has run nothing. [Spawn] starts a stage directly, and
// [SpawnUnit] starts one through systemd. The main function of a program that uses them must call
// [Stage] first.
//
// On Linux each stage has a keeper, its parent, which adopts everything the service leaves behind.
package start

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
)

// ErrSilent means that a stage was asked to become the command, did not answer for 10 seconds, and
// was killed. The command may have run, and left other processes.
var ErrSilent = errors.New("it did not say whether it has become the command, and was killed")

// ErrTooLate means that a command did not begin in time. See Command.Latest.
var ErrTooLate = errors.New("released too late")

// ErrChecking means that the preflight of a command has begun. Its end is in the exit record.
var ErrChecking = errors.New("its preflight runs")

// A Command is a command to start. Its strings may hold any byte except NUL.
type Command struct {
	// Argv are the arguments of the command. If Argv[0] has no slash, it is looked up as execvp(3)
	// does, in the first PATH of Env or, without one, in /bin and /usr/bin. sh runs a text without
	// #!.
	Argv []string
	// Dir is the working directory, an absolute path. A relative command, PATH or Log is relative
	// to it.
	Dir string
	// Env is the whole environment, except what Stage and the keeper add from EnvFile.
	Env []string
	// EnvFile is the path of an environment file, which is read just before Preflight, Argv or
	// Finish are executed (see Environment); "": there is none.
	EnvFile string
	// Log is the file to which stdout and stderr of the command are appended. It is created with
	// mode 0600, and must not be a symbolic link. It may be /dev/null.
	Log string
	// Journal makes Log the socket of a journal, to which stdout and stderr go with Journal as
	// their SYSLOG_IDENTIFIER; "": Log is a file.
	Journal string
	// ID is the id of this start, from NewStartID. Its keeper carries it; the stage does not get
	// it.
	ID string
	// Latest is the Uptime after which the command must not begin; 0 means no limit.
	Latest time.Duration
	// Preflight are the arguments of a program that says by its exit status whether the command may
	// begin; empty: it may.
	Preflight []string
	// PreflightTimeout is how long Preflight may run.
	PreflightTimeout time.Duration
	// Context is set before Preflight and Argv are executed.
	Context group.Context
	// Finish are the arguments of a program that its keeper runs after the end of the command, for
	// at most FinishTimeout; empty: none. The stage does not get it.
	Finish        []string
	FinishTimeout time.Duration
	// OnExit is what its keeper executes once the end of the command is in Record: Argv, with a
	// path, in Dir, with Env, and /dev/null as stdin and its output. nil: nothing. The keeper does
	// not, if it was told to end.
	OnExit *Command
	// OnExitLast makes the keeper execute OnExit only when nothing of the start is left. It is for
	// a process that stays, and reaps its keepers, but no other children.
	OnExitLast bool
	// Record is the path of the reserved exit record, LEDGER/exits/GROUP/NAME; or "" if there is
	// none. Release finds a record there that has the process of this start.
	Record string
}

// encode returns s for readCommand. No proper prefix of it is a Command, so a truncated one starts
// nothing.
func (s Command) encode() []byte {
	var b []byte
	latest := strconv.FormatInt(int64(s.Latest), 10)
	timeout := strconv.FormatInt(int64(s.PreflightTimeout), 10)
	single := []string{s.Dir, s.Log, latest, s.Record, timeout, s.Journal, s.EnvFile}
	for _, list := range [][]string{s.Argv, s.Env, s.Preflight, single, words(s.Context)} {
		b = appendList(b, list)
	}

	return b
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, element := range list {
		b = binary.AppendUvarint(b, uint64(len(element)))
		b = append(b, element...)
	}
	return b
}

// readList reads the output of appendList. It returns the error of r, such as io.EOF.
func readList(r *bufio.Reader) (list []string, err error) {
	count, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}

	for range count {
		element, err := readElement(r)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

// readCommand reads the output of encode. It returns the error of r, such as io.EOF if it ends too
// early.
func readCommand(r *bufio.Reader) (Command, error) {
	var lists [5][]string
	for i := range lists {
		var err error
		if lists[i], err = readList(r); err != nil {
			return Command{}, err
		}
	}

	single := lists[3]
	if len(lists[0]) == 0 || len(single) != 7 {
		return Command{}, io.ErrUnexpectedEOF
	}

	latest, err := strconv.ParseInt(single[2], 10, 64)
	timeout, timeoutErr := strconv.ParseInt(single[4], 10, 64)
	context, contextErr := parseContext(lists[4])
	return Command{
		Argv: lists[0], Env: lists[1], Preflight: lists[2], Dir: single[0], Log: single[1],
		Latest: time.Duration(latest), Record: single[3], PreflightTimeout: time.Duration(timeout),
		Journal: single[5], EnvFile: single[6], Context: context,
	}, errors.Join(err, timeoutErr, contextErr)
}

func readElement(r *bufio.Reader) (string, error) {
	length, err := binary.ReadUvarint(r)
	if err != nil {
		return "", err
	}

	content, err := io.ReadAll(io.LimitReader(r, int64(length&^(1<<63))))
	if err == nil && uint64(len(content)) < length {
		err = io.ErrUnexpectedEOF
	}
	return string(content), err
}
