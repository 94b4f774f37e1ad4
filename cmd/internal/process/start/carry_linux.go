package start

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// carriedPiece is the most that one variable holds of a command: one text of the environment may
// not have more than 128 KiB.
const carriedPiece = 64 << 10

// carried returns an environment from which carriedCommand reads s. The names of its variables
// begin with variable. Only keepers have such an environment; arguments would show that of the
// service to everybody.
func (s Command) carried(variable string) (env []string) {
	text := base64.StdEncoding.EncodeToString(s.encode())
	for piece := range slices.Chunk([]byte(text), carriedPiece) {
		env = append(env, variable+strconv.Itoa(len(env))+"="+string(piece))
	}
	return env
}

// carriedCommand returns the command that the environment of this process carries in variable.
func carriedCommand(variable string) (s Command, found bool) {
	var text strings.Builder
	for i := 0; ; i++ {
		piece, more := os.LookupEnv(variable + strconv.Itoa(i))
		if !more {
			break
		}
		text.WriteString(piece)
	}

	data, err := base64.StdEncoding.DecodeString(text.String())
	if err != nil || len(data) == 0 {
		return Command{}, false
	}
	s, err = readCommand(bufio.NewReader(bytes.NewReader(data)))
	return s, err == nil
}

// passOnSignals makes what this keeper executes get the usual effect of signals, which the keeper
// ignores or blocks. The caller has locked the thread, to which the mask belongs.
func passOnSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	process.HeedSignals()
	process.UnblockSignals()
}
