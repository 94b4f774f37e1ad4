package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Read returns the content of the file p, or of standard input if p is -. It returns
// wire.ErrCorrupt if that has more than most bytes, a number of MiB.
func (p Path) Read(most int64) (string, error) {
	from := io.Reader(os.Stdin)
	if p != "-" {
		f, err := os.Open(string(p))
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}

	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: it is larger than %d MiB", wire.ErrCorrupt, most>>20)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name(), err)
	}
	return string(data), nil
}

// Name returns what p is called in a message.
func (p Path) Name() string {
	if p == "-" {
		return "standard input"
	}
	return string(p)
}
