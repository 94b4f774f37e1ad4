package main

import (
	"fmt"
	"io"
	"os"
)

// mostReport is the size of the largest report that is kept.
const mostReport = 1 << 20

// report returns the report that the flag names, or "".
func (c *settle) report() (string, error) {
	if c.Report == "" {
		return "", nil
	}

	from := io.Reader(os.Stdin)
	if c.Report != "-" {
		f, err := os.Open(string(c.Report))
		if err != nil {
			return "", fmt.Errorf("--report: %w", err)
		}
		defer f.Close()
		from = f
	}

	data, err := io.ReadAll(io.LimitReader(from, mostReport+1))
	if err == nil && len(data) > mostReport {
		err = fmt.Errorf("%s is larger than 1 MiB", c.Report)
	}
	if err != nil {
		return "", fmt.Errorf("--report: %w", err)
	}
	return string(data), nil
}
