package start

import (
	"io"
	"strconv"
)

// A Context is what a command has instead of what the pass has; a nil member is that of the pass.
type Context struct {
	Umask                  *int
	NofileSoft, NofileHard *int // both or none
	Nice, OOMScoreAdj      *int
}

// members returns the members of x, in the order of words.
func (x *Context) members() []**int {
	return []**int{&x.Umask, &x.NofileSoft, &x.NofileHard, &x.Nice, &x.OOMScoreAdj}
}

// words returns x for parseContext.
func (x Context) words() (words []string) {
	for _, m := range x.members() {
		word := ""
		if *m != nil {
			word = strconv.Itoa(**m)
		}
		words = append(words, word)
	}
	return words
}

func parseContext(words []string) (x Context, err error) {
	members := x.members()
	if len(words) != len(members) {
		return x, io.ErrUnexpectedEOF
	}

	for i, word := range words {
		if word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return x, err
		}
		*members[i] = &n
	}
	return x, nil
}
