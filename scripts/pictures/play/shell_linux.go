package play

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hinshun/vt10x"
)

// patience is the limit for each command of a scene, also on a machine that has other work.
const patience = time.Minute

// mark is what the shell prints before each prompt, invisibly: the start of a prompt, as terminals
// know it.
const mark = "\x1b]133;A\a"

const prompt = "$ "

const faint = "\x1b[2m"

// tall is the number of rows that are kept. The terminal says that it has fewer.
const tall = 500

// A shell is a bash at a terminal, whose output it interprets.
type shell struct {
	cmd     *exec.Cmd
	master  *os.File
	screen  vt10x.Terminal
	read    chan []byte
	prompts int
	raw     []byte // the end of what was read, where a mark may begin
}

// open starts a shell in dir with an environment.
func open(bash, dir string, env []string, columns, rows int) (*shell, error) {
	master, slave, err := openTerminal(columns, rows)
	if err != nil {
		return nil, err
	}
	defer slave.Close()

	s := &shell{cmd: exec.Command(bash, "--norc", "--noprofile", "-i"), master: master,
		screen: vt10x.New(vt10x.WithSize(columns, tall)), read: make(chan []byte, 16)}
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		master.Close()
		return nil, err
	}

	go s.follow()
	if err := s.until("the first prompt", func() bool { return s.prompts > 0 }); err != nil {
		s.close()
		return nil, err
	}

	return s, nil
}

func (s *shell) follow() {
	defer close(s.read)
	for {
		buf := make([]byte, 4096)
		n, err := s.master.Read(buf)
		if err != nil {
			return
		}
		s.read <- buf[:n]
	}
}

// close kills the shell.
func (s *shell) close() {
	if s == nil {
		return // a change of terminals has failed
	}

	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.master.Close()
	for range s.read {
	}
}

// until interprets output until a condition holds.
func (s *shell) until(what string, is func() bool) error {
	late := time.After(patience)
	for !is() {
		select {
		case data, ok := <-s.read:
			if !ok {
				return fmt.Errorf("%s: the shell has ended; the screen is\n%s", what, s.text())
			}
			s.interpret(data)
		case <-late:
			return fmt.Errorf("%s: not yet after %v; the screen is\n%s", what, patience, s.text())
		}
	}

	return nil
}

func (s *shell) text() string { return strings.TrimRight(s.screen.String(), " \n") }

// interpret draws output on the screen. vt10x knows no faint text, so it becomes dark grey.
func (s *shell) interpret(data []byte) {
	data = append(s.raw, data...)
	whole := len(data)
	if i := bytes.LastIndexByte(data, '\x1b'); i >= 0 && begins(string(data[i:]), mark, faint) {
		whole = i
	}

	s.raw = bytes.Clone(data[whole:])
	s.prompts += bytes.Count(data[:whole], []byte(mark))
	s.screen.Write(bytes.ReplaceAll(data[:whole], []byte(faint), []byte("\x1b[90m")))
}

// begins reports whether one of the sequences begins with text and goes on.
func begins(text string, sequences ...string) bool {
	return slices.ContainsFunc(sequences, func(s string) bool {
		return len(text) < len(s) && strings.HasPrefix(s, text)
	})
}

// enter types a command, and returns the rows of what it has printed at the next prompt.
func (s *shell) enter(command string) (first, end int, err error) {
	ready := func() bool { return s.from(s.cursor()) == prompt }
	if err := s.until("a clear prompt", ready); err != nil {
		return 0, 0, err
	}

	row, seen := s.cursor(), s.prompts
	if _, err := s.master.WriteString(command); err != nil {
		return 0, 0, err
	}
	err = s.until("the echo", func() bool { return s.from(row) == prompt+command })
	if err != nil {
		return 0, 0, err
	}

	first = s.cursor() + 1
	if _, err := s.master.WriteString("\r"); err != nil {
		return 0, 0, err
	}
	err = s.until("the next prompt", func() bool { return s.prompts > seen && ready() })
	return first, s.cursor(), err
}

// cursor returns the row of the cursor.
func (s *shell) cursor() int { return s.screen.Cursor().Y }

// from returns the text from the beginning of a row to the cursor.
func (s *shell) from(row int) string {
	columns, _ := s.screen.Size()
	cursor := s.screen.Cursor()
	var b strings.Builder
	for at := row * columns; at < cursor.Y*columns+cursor.X; at++ {
		b.WriteRune(s.screen.Cell(at%columns, at/columns).Char)
	}
	return b.String()
}
