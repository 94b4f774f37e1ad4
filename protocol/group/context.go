package group

import (
	"fmt"
	"strconv"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Number is a number that may be absent, such as a nice value, for which 0 is one of many.
type Number struct {
	N   int
	Set bool
}

// A Context is what a service starts with instead of what the pass has (spec §11.6). A member that is
// not set is that of the pass.
type Context struct {
	Umask                  Number
	NofileSoft, NofileHard Number // limits of open files: both are set, or none
	Nice, OOMScoreAdj      Number
}

// The greatest values of a Context.
const (
	MaxUmask       = 0o777
	MinNice        = -20
	MaxNice        = 19
	MinOOMScoreAdj = -1000
	MaxOOMScoreAdj = 1000
)

// ParseUmask returns the umask in text, three or four octal digits as umask(1) prints them.
func ParseUmask(text string) (Number, error) {
	n, err := strconv.ParseUint(text, 8, 16)
	if err != nil || n > MaxUmask || len(text) < 3 || len(text) > 4 {
		return Number{}, fmt.Errorf("three or four octal digits up to 0777 are expected, such as 022")
	}
	return Number{int(n), true}, nil
}

// read reads the member name into x, and reports whether it is one of a Context.
func (x *Context) read(r *wire.Reader, name string) bool {
	between := func(least, most int) Number {
		n := r.Int(int64(least))
		if n > int64(most) {
			r.Refuse("at most %d is expected", most)
		}
		return Number{int(n), true}
	}

	switch name {
	case "umask":
		var err error
		if x.Umask, err = ParseUmask(r.String()); err != nil {
			r.Refuse("%v", err)
		}
	case "nofileSoft":
		x.NofileSoft = between(1, MaxNofile)
	case "nofileHard":
		x.NofileHard = between(1, MaxNofile)
	case "nice":
		x.Nice = between(MinNice, MaxNice)
	case "oomScoreAdj":
		x.OOMScoreAdj = between(MinOOMScoreAdj, MaxOOMScoreAdj)
	default:
		return false
	}
	return true
}

// MaxNofile is the greatest limit of open files that a kernel may be set to allow.
const MaxNofile = 1<<31 - 1

// check refuses the object that r has read into x if it has half of the limits of open files, or a
// soft one above the hard one.
func (x *Context) check(r *wire.Reader) {
	if r.Had("nofileSoft") || r.Had("nofileHard") {
		r.Require("nofileSoft", "nofileHard")
	}
	if x.NofileSoft.N > x.NofileHard.N {
		r.Refuse("nofileSoft is more than nofileHard")
	}
}

func (x *Context) write(w *wire.Writer) {
	if x.Umask.Set {
		w.String("umask", fmt.Sprintf("%04o", x.Umask.N))
	}
	for _, m := range []struct {
		name string
		n    Number
	}{
		{"nofileSoft", x.NofileSoft}, {"nofileHard", x.NofileHard}, {"nice", x.Nice},
		{"oomScoreAdj", x.OOMScoreAdj},
	} {
		if m.n.Set {
			w.Int(m.name, int64(m.n.N))
		}
	}
}
