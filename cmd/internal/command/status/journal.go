package status

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/screen"
)

// journal prints what the journal of systemd has of name, with journalctl: the last lines, and with
// follow what comes after them.
func (s *reporter) journal(name string, lines int, follow bool) error {
	argv := []string{"journalctl", "--identifier=" + name, "--lines=" + strconv.Itoa(lines),
		"--output=cat", "--no-pager", "--quiet"}
	if follow {
		argv = append(argv, "--follow")
	}

	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = messages.ForChild(s.env.Stderr)
	_, _, terminal := screen.Size()
	cmd.Stdout = &printer{out: s.env.Stdout, terminal: terminal}
	if err := cmd.Run(); err != nil {
		return cli.WithStatus(cli.StatusUnavailable, fmt.Errorf("%s: %w", strings.Join(argv, " "),
			err))
	}
	return nil
}

// Write makes a printer an io.Writer.
func (p *printer) Write(text []byte) (int, error) { return len(text), p.print(text) }
