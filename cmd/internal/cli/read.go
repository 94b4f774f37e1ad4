package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/dpl-project/dpl/protocol/wire"
)

// Read returns the content of the file p, or of standard input if p is -. It returns
// wire.ErrCorrupt if that has more than most bytes, a number of MiB.
func (p Path) Read(most int64) (string, error) {
	from := os.Stdin
	if p != "-" {
		f, err := os.Open(string(p))
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}

	var data bytes.Buffer
	if info, err := from.Stat(); err == nil {
		data.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	}
	_, err := data.ReadFrom(io.LimitReader(from, most+1))
	if err == nil && int64(data.Len()) > most {
		err = fmt.Errorf("%w: it is larger than %d MiB", wire.ErrCorrupt, most>>20)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name(), err)
	}
	return data.String(), nil
}

// Name returns what p is called in a message.
func (p Path) Name() string {
	if p == "-" {
		return "standard input"
	}
	return string(p)
}
