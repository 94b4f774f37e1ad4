package register

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/group"
)

// context are the flags for what COMMAND starts with, whichever pass starts it (spec §11.6).
type context struct {
	Umask       umask   `placeholder:"MASK" help:"umask of COMMAND, such as 027 (the current one)"`
	Nofile      nofile  `placeholder:"N[:HARD]"`
	Nice        *number `placeholder:"N"`
	OOMScoreAdj *number `name:"oom-score-adj" placeholder:"N"`
}

// check returns an error for a value that no process can have.
func (c *context) check() error {
	if n := c.Nice; n != nil && (*n < group.MinNice || *n > group.MaxNice) {
		return cli.Usagef("--nice: want %d to %d, not %d", group.MinNice, group.MaxNice, *n)
	}
	if n := c.OOMScoreAdj; n != nil && (*n < group.MinOOMScoreAdj || *n > group.MaxOOMScoreAdj) {
		return cli.Usagef("--oom-score-adj: want %d to %d, not %d", group.MinOOMScoreAdj,
			group.MaxOOMScoreAdj, *n)
	}
	return nil
}

// copy copies the given flags to s.
func (c *context) copy(s *group.StartInfo) {
	x := &s.Context
	x.Umask = group.Number(cmp.Or(c.Umask, umask(x.Umask)))
	if c.Nofile != (nofile{}) {
		x.NofileSoft, x.NofileHard = c.Nofile.soft, c.Nofile.hard
	}
	if c.Nice != nil {
		x.Nice = group.Number{N: int(*c.Nice), Set: true}
	}
	if c.OOMScoreAdj != nil {
		x.OOMScoreAdj = group.Number{N: int(*c.OOMScoreAdj), Set: true}
	}
}

// currentUmask returns the umask that this process was started with, if systems have one.
func currentUmask() group.Number {
	mask, known := process.Umask()
	return group.Number{N: mask, Set: known}
}

// umask is an umask as umask(1) prints it.
type umask group.Number

// UnmarshalText parses text.
func (u *umask) UnmarshalText(text []byte) error {
	n, err := group.ParseUmask(string(text))
	*u = umask(n)
	return err
}

// nofile is a soft and a hard limit of open files.
type nofile struct{ soft, hard group.Number }

// UnmarshalText parses text, N or SOFT:HARD.
func (n *nofile) UnmarshalText(text []byte) error {
	soft, hard, two := strings.Cut(string(text), ":")
	if !two {
		hard = soft
	}

	for _, limit := range []struct {
		text string
		to   *group.Number
	}{{soft, &n.soft}, {hard, &n.hard}} {
		parsed, err := strconv.ParseUint(limit.text, 10, 31)
		if err != nil || parsed == 0 {
			return cli.Usagef("want a number of files, or two as in 1024:4096, not %q", text)
		}
		*limit.to = group.Number{N: int(parsed), Set: true}
	}
	if n.soft.N > n.hard.N {
		return cli.Usagef("the soft limit, %s, is above the hard one, %s", soft, hard)
	}
	return nil
}

// number is a number, which may be negative.
type number int

// UnmarshalText parses text.
func (n *number) UnmarshalText(text []byte) error {
	parsed, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		return cli.Usagef("want a number, not %q", text)
	}
	*n = number(parsed)
	return nil
}
