package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/wire"
)

// usually is a word of which usual is not written: it is "".
func usually[T ~string](c *wire.Codec, name string, s *T, what string, usual T, others ...T) {
	if wire.Word(c, name, s, what, func(word T) bool {
		return word == usual || slices.Contains(others, word)
	}, wire.IfSet) && *s == usual {
		*s = ""
	}
}

// argvMember is a command with its arguments. Nil is not written.
func argvMember(c *wire.Codec, name string, argv *[]string) {
	if c.Strings(name, argv, wire.If(*argv != nil)) && (len(*argv) == 0 || (*argv)[0] == "") {
		c.Refuse("a command is expected")
	}
}
