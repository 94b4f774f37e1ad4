package start

import (
	"io"
	"strconv"

	"github.com/dpl-project/dpl/protocol/group"
)

// numbers returns the numbers of x, in the order of words.
func numbers(x *group.Context) []*group.Number {
	return []*group.Number{&x.Umask, &x.NofileSoft, &x.NofileHard, &x.Nice, &x.OOMScoreAdj}
}

// words returns x for parseContext.
func words(x group.Context) (words []string) {
	for _, n := range numbers(&x) {
		word := ""
		if n.Set {
			word = strconv.Itoa(n.N)
		}
		words = append(words, word)
	}
	return words
}

func parseContext(words []string) (x group.Context, err error) {
	all := numbers(&x)
	if len(words) != len(all) {
		return x, io.ErrUnexpectedEOF
	}

	for i, word := range words {
		if word == "" {
			continue
		}
		if all[i].N, err = strconv.Atoi(word); err != nil {
			return x, err
		}
		all[i].Set = true
	}
	return x, nil
}
