package question

import (
	"slices"
	"strings"
	"time"
)

// A Verdict is what rules say to a request, and which rule does: its place among the files, and its
// place in that one, both from 0. With Ask and a File of -1, no rule fits.
type Verdict struct {
	Decision Decision
	File     int
	Rule     int
}

// Decide returns what the rules of all files say to q (spec §48.3). A rule that denies goes before
// one that asks, and that before one that allows, whatever their order. If none fits, a person is
// asked.
func Decide(q Request, files []Rules, now time.Time) Verdict {
	c := q.command()
	verdict := Verdict{Decision: Ask, File: -1}
	rank := map[Decision]int{Deny: 3, Ask: 2, Allow: 1}
	best := 0

	for i, rules := range files {
		for j, rule := range rules {
			d, fits := rule.says(q, c, now)
			if fits && rank[d] > best {
				best, verdict = rank[d], Verdict{d, i, j}
			}
		}
	}
	return verdict
}

// A command is what is known of the command of a request.
type command struct {
	words []string   // as they are executed; nil: there are none, or it takes a shell to know them
	parts [][]string // sequences of words that may be commands in it, words among them
}

func (q Request) command() command {
	if q.Argv != nil {
		c := command{words: q.Argv, parts: [][]string{q.Argv}}
		for _, argument := range q.Argv {
			if strings.ContainsFunc(argument, func(r rune) bool { return !plain(r) }) {
				c.parts = append(c.parts, split(argument))
			}
		}
		return c
	}

	c := command{parts: [][]string{split(q.Shell)}}
	if !strings.ContainsFunc(q.Shell, func(r rune) bool { return !plain(r) && r != ' ' }) {
		c.words = strings.Fields(q.Shell)
	}
	return c
}

// plain reports whether r means nothing but itself to every shell.
func plain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("_@%+:,./-", r)
}

// split returns what may be words in a command for a shell.
func split(shell string) []string {
	return strings.FieldsFunc(shell, func(r rune) bool { return !plain(r) })
}

// says returns what rule says to q, whose command is c, and whether it says anything. A rule that
// denies a command whose words are only somewhere in it, as arguments or behind an operator, asks:
// they may be data.
func (rule Rule) says(q Request, c command, now time.Time) (Decision, bool) {
	switch {
	case rule.Tool != "" && rule.Tool != q.Tool, !rule.Until.IsZero() && !now.Before(rule.Until):
		return "", false
	case rule.Argv == nil:
		return rule.Decide, true
	case rule.Decide == Allow:
		return Allow, begins(c.words, rule.Argv) &&
			(len(rule.Argv) == len(c.words) || !isShell(c.words[0]))
	case begins(c.words, rule.Argv) || named(c.words, rule.Argv):
		return rule.Decide, true
	}
	return Ask, slices.ContainsFunc(c.parts, func(words []string) bool {
		for i := range words {
			if begins(words[i:], rule.Argv) || named(words[i:], rule.Argv) {
				return true
			}
		}
		return false
	})
}

// isShell reports whether program runs what its arguments say: of such a command a rule that allows
// must name every word.
func isShell(program string) bool {
	switch program[strings.LastIndexByte(program, '/')+1:] {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "env",
		"eval", "exec", "command", "builtin", "source", ".", "sudo", "doas", "su", "xargs", "ssh", "nohup",
		"timeout", "nice", "setsid", "stdbuf", "chroot", "script", "unshare", "nsenter", "strace":
		return true
	}
	return false
}

// begins reports whether prefix is at the beginning of words.
func begins(words, prefix []string) bool {
	return len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
}

// named reports whether words begin with prefix if the directory of the program is left out.
func named(words, prefix []string) bool {
	if len(words) == 0 {
		return false
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	return name == prefix[0] && len(words) >= len(prefix) &&
		slices.Equal(words[1:len(prefix)], prefix[1:])
}
