package cli

import (
	"fmt"
	"strings"
)

// A Publication is SRC=DST: a file that gets another name if the work ends well (spec §15.10, §35.6).
type Publication struct{ From, To string }

// UnmarshalText sets p to text.
func (p *Publication) UnmarshalText(text []byte) error {
	from, to, _ := strings.Cut(string(text), "=")
	*p = Publication{from, to}
	switch {
	case from == "" || to == "" || strings.ContainsRune(string(text), 0):
		return fmt.Errorf("want SRC=DST, like out.tmp=out, not %q", text)
	case strings.HasSuffix(to, "/"):
		return fmt.Errorf("%q is a directory: name the file in it", to)
	}
	return nil
}
