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

// A Context is what a service starts with instead of what the pass has (groups.md §11.6). A member
// that is not set is that of the pass.
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

// members are those of a context, among those of its startInfo.
func (x *Context) members(c *wire.Codec) {
	c.Own("umask", x.readUmask, x.writeUmask, wire.If(x.Umask.Set))
	x.NofileSoft.member(c, "nofileSoft", 1, MaxNofile)
	x.NofileHard.member(c, "nofileHard", 1, MaxNofile)
	x.Nice.member(c, "nice", MinNice, MaxNice)
	x.OOMScoreAdj.member(c, "oomScoreAdj", MinOOMScoreAdj, MaxOOMScoreAdj)
}

func (x *Context) readUmask(r *wire.Reader) {
	var err error
	if x.Umask, err = ParseUmask(r.String()); err != nil {
		r.Refuse("%v", err)
	}
}

func (x *Context) writeUmask(w *wire.Writer) { w.String("umask", fmt.Sprintf("%04o", x.Umask.N)) }

// member is a number from least to most.
func (n *Number) member(c *wire.Codec, name string, least, most int) {
	if !c.Int(name, &n.N, int64(least), wire.If(n.Set)) {
		return
	}
	if n.Set = true; n.N > most {
		c.Refuse("at most %d is expected", most)
	}
}

// MaxNofile is the greatest limit of open files that a kernel may be set to allow.
const MaxNofile = 1<<31 - 1

// check refuses the object that was read into x if it has half of the limits of open files, or a
// soft one above the hard one.
func (x *Context) check(c *wire.Codec) {
	if c.Had("nofileSoft") || c.Had("nofileHard") {
		c.Require("nofileSoft", "nofileHard")
	}
	if x.NofileSoft.N > x.NofileHard.N {
		c.Refuse("nofileSoft is more than nofileHard")
	}
}
