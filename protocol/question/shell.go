package question

import "strings"

// A part is one of the commands that are joined to one.
type part struct {
	words []string
	piped bool // from the part before
}

// parse returns the parts of shell, a command for a POSIX shell. It returns nil if there is
// anything in shell of which it is not certain what every such shell makes of it (spec §48.3).
func parse(shell string) (parts []part) {
	words, piped := make([]string, 0, 8), false
	for rest := shell; ; {
		rest = strings.TrimLeft(rest, " ")
		if n := redirection(rest); n > 0 && len(words) > 0 {
			rest = rest[n:]
			continue
		}

		if n := joint(rest); n > 0 || rest == "" {
			if len(words) == 0 {
				return nil
			}
			parts = append(parts, part{words, piped})
			if rest == "" {
				return parts
			}
			piped = n == 1 && rest[0] == '|'
			rest, words = rest[n:], nil
			continue
		}

		word, n := readShellWord(rest, len(words) == 0)
		if n == 0 {
			return nil
		}
		words, rest = append(words, word), rest[n:]
	}
}

// joint returns the length of an operator at the beginning of text that joins commands, or 0.
func joint(text string) int {
	switch {
	case strings.HasPrefix(text, "&&"), strings.HasPrefix(text, "||"):
		return 2
	case strings.HasPrefix(text, ";"), strings.HasPrefix(text, "|"):
		return 1
	}
	return 0
}

// redirection returns the length of a redirection at the beginning of text that writes no file, or
// 0.
func redirection(text string) int {
	for _, known := range []string{"2>&1", ">/dev/null", "2>/dev/null"} {
		rest, ok := strings.CutPrefix(text, known)
		if ok && (rest == "" || strings.IndexByte(" ;|", rest[0]) >= 0) {
			return len(known)
		}
	}
	return 0
}

// readShellWord returns the word at the beginning of text, which is not empty, and its length
// there; or a length of 0 if it is not plain characters and quotes. first: it names the program.
func readShellWord(text string, first bool) (word string, length int) {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == ';' || c == '|' || c == '&':
			return b.String(), i
		case plain(rune(c)), c == '=' && i > 0 && !first:
			b.WriteByte(c)
			i++
		case c == '\'' || c == '"':
			inner, _, closed := strings.Cut(text[i+1:], text[i:i+1])
			if !closed || strings.ContainsFunc(inner, isHidden) ||
				c == '"' && strings.ContainsAny(inner, "$`\\!") {
				return "", 0
			}
			b.WriteString(inner)
			i += len(inner) + 2
		default:
			return "", 0
		}
	}
	return b.String(), len(text)
}

// isHidden reports whether r is a control character, or stands for bytes that are no text.
func isHidden(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 || r == 0xfffd }

// plain reports whether r means nothing but itself to every shell.
func plain(r rune) bool {
	return isName(r) || strings.ContainsRune("_@%+:,./-", r)
}

// isName reports whether r is a letter or a digit of ASCII.
func isName(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// split returns what may be words in a command for a shell.
func split(shell string) []string {
	return strings.FieldsFunc(shell, func(r rune) bool { return !plain(r) })
}

// A command is what is known of the command of a request.
type command struct {
	parts []part     // nil: there is none, or it is not understood
	heaps [][]string // sequences of words that may be commands in it
}

func (q *Request) command() (c command) {
	if q.Shell != "" {
		c.parts = parse(q.Shell)
		for _, p := range c.parts {
			c.heaps = append(c.heaps, p.words)
		}
		c.heaps = append(c.heaps, split(q.Shell))
		return c
	}

	c.heaps = [][]string{q.Argv}
	if len(q.Argv) > 0 {
		c.parts = []part{{words: q.Argv}}
	}
	for _, argument := range q.Argv {
		if strings.ContainsFunc(argument, func(r rune) bool { return !plain(r) }) {
			c.heaps = append(c.heaps, split(argument))
		}
	}
	return c
}
