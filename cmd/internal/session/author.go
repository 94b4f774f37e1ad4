package session

import (
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// author returns who makes the edits of this process, as their record says it.
func (s *Session) author() audit.By {
	s.known.Do(func() {
		s.by = audit.By{User: user(), Command: command(os.Args)}
		if id := os.Getenv("DPL_PARTICIPANT"); id != "" && wire.CheckID(id) == nil {
			s.by.Participant = id
		}
		if self, err := process.Self(); err == nil {
			s.by.Process = self
		}
	})
	return s.by
}

// user returns the number of the effective user, or the name where users have no numbers.
func user() string {
	if uid := os.Geteuid(); uid >= 0 {
		return strconv.Itoa(uid)
	}
	return os.Getenv("USERNAME")
}

// command returns how a command was called, cut to audit.MostCommand bytes: texts in arguments may
// be long, and are elsewhere in the record.
func command(args []string) string {
	var all strings.Builder
	for i, arg := range args {
		if i == 0 {
			arg = arg[strings.LastIndexAny(arg, `/\`)+1:]
		} else {
			all.WriteByte(' ')
		}
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\") {
			arg = strconv.Quote(arg)
		}
		all.WriteString(arg)
		if all.Len() > audit.MostCommand {
			break
		}
	}

	text := all.String()
	if len(text) <= audit.MostCommand {
		return text
	}
	cut := audit.MostCommand
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
