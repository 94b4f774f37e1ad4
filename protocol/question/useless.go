package question

import (
	"slices"
	"strings"
)

// useless returns why rule can never match, or matches other things than it seems to, and what to
// write instead (spec §48.1); or "".
func (rule *Rule) useless() string {
	if rule.Tool == "" && rule.Argv == nil {
		return "a rule needs tool or argv: without both it would match everything"
	}
	if strings.ContainsAny(rule.Tool, "*(") {
		return "tool is the whole name of a tool: a command goes to argv"
	}
	for i, word := range rule.Argv {
		if why := rule.uselessWord(i, word); why != "" {
			return why
		}
	}

	if rule.Decide == Allow {
		return rule.uselessAllow()
	}
	if rule.Options != nil || rule.Paths || rule.Domains != nil {
		return "options, paths and domains are for a rule that allows: leave them out"
	}
	return ""
}

// uselessWord returns what is wrong with a word of the command.
func (rule *Rule) uselessWord(i int, word string) string {
	first, allow := i == 0, rule.Decide == Allow
	switch {
	case isWildcard(word) && !allow:
		return "a rule that denies or asks matches whatever follows its words: leave out " + word
	case isWildcard(word) && i < len(rule.Argv)-1:
		return word + " may only be the last word: name the words before, or end argv with it"
	case isWildcard(word) && first:
		return "name the program before " + word
	case strings.HasSuffix(word, ":*"):
		return "write * as a word by itself instead of :*"
	case strings.ContainsRune(word, 0):
		return "no command has a word with a null character"
	case first && strings.ContainsRune(word, ' ') && !strings.ContainsAny(word, `/\`):
		return "each word is by itself: write [\"git\", \"status\"], not [\"git status\"]"
	case !allow:
		return ""
	case isOperator(word):
		return "it joins commands, or redirects output: write a rule for each command, without " + word
	case strings.HasPrefix(word, "~"), first && strings.HasPrefix(word, "$"):
		return "nothing expands ~ and variables: write the whole path"
	case first && strings.Contains(word, "="):
		return "a command that begins with an assignment is never allowed: leave it out"
	case first && isReserved(word):
		return word + " is a word of the shell, and no command: write a rule for each command"
	}
	return ""
}

// uselessAllow returns what is wrong with a rule that allows, whose words are right.
func (rule *Rule) uselessAllow() string {
	wildcard := rule.wildcard()
	switch {
	case rule.Tool == "":
		return "a rule that allows needs tool, such as \"Bash\""
	case rule.Argv == nil && rule.Options != nil:
		return "options are those of a command: add argv"
	case rule.Paths && rule.Domains != nil:
		return "no word is both a path and a URL: write two rules"
	case wildcard == anything && (rule.Options != nil || rule.Paths || rule.Domains != nil):
		return "** already allows every word: with options, paths or domains write *"
	case rule.Domains != nil && rule.Argv != nil && wildcard == "":
		return "domains are about further words: end argv with *"
	case rule.Argv != nil && runs(rule.fixed()) && !rule.exact():
		return "it runs other programs: name each word of the command, without *, ** and options"
	}

	for _, option := range rule.Options {
		if option == "-*" || option == "--*" {
			return "options are no patterns: write each of them"
		}
		if option[0] != '-' {
			return "each of options begins with -: other words are allowed by * at the end of argv"
		}
	}
	for _, host := range rule.Domains {
		if !isHost(host) {
			return "write a host in lower case, such as go.dev or localhost:8080"
		}
	}
	return ""
}

// isOperator reports whether people write word to a shell to join commands or to redirect.
func isOperator(word string) bool {
	return slices.Contains([]string{"&&", "||", "|", "|&", ";", "&", "<", "<<", ">", ">>", "&>",
		"2>", "2>&1", ">/dev/null", "2>/dev/null", "&>/dev/null"}, word)
}

// isReserved reports whether word is one that a shell understands where a command begins.
func isReserved(word string) bool {
	return slices.Contains([]string{"if", "then", "else", "elif", "fi", "do", "done", "case",
		"esac", "while", "until", "for", "foreach", "select", "function", "repeat", "{", "}", "!", "[[", "(", ")"}, word)
}
