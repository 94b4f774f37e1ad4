// Package tail keeps the end of what a command prints.
package tail

import (
	"io"
	"strings"
)

// A Tail is a writer that keeps the last Most bytes of what is written to it, and passes everything
// on. Whether that can be written does not matter to the command.
type Tail struct {
	To   io.Writer // nil: nowhere
	text []byte
}

// Most is how many bytes a Tail keeps.
const Most = 4 << 10

// Write implements io.Writer. It returns no error.
func (t *Tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if more := len(t.text) - 2*Most; more > 0 {
		t.text = append(t.text[:0], t.text[len(t.text)-Most:]...)
	}
	if t.To != nil {
		_, _ = t.To.Write(p)
	}
	return len(p), nil
}

// String returns the last Most bytes, as UTF-8.
func (t *Tail) String() string {
	return strings.ToValidUTF8(string(t.text[max(0, len(t.text)-Most):]), "\uFFFD")
}
