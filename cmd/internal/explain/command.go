package explain

import "strings"

// Command returns a command line for a shell of words, which others may have written.
func Command(words ...string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = word
		if isSpecial(word) {
			all[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(all, " ")
}

// isSpecial reports whether word is another word, or none, to a shell unless it is quoted.
func isSpecial(word string) bool {
	const plain = "@%+=:,./-_"
	return word == "" || strings.ContainsFunc(word, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune(plain, r)
	})
}
