package main

import (
	"fmt"
	"io"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

// mostReport is the size of the largest report that is kept.
const mostReport = 1 << 20

// report keeps the report of the attempt. It does so before the attempt is settled, so that whoever
// sees the end finds it.
func (c *settle) report(env *cli.Env, l *fileops.Ledger, task string, epoch int64) error {
	if c.Report == "" || env.DryRun() {
		return nil
	}

	data, err := c.read()
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	q, err := l.ReadQueue(string(c.Queue))
	if err != nil {
		return cli.InQueue(c.Queue, err)
	}
	if t := q.Task(task); t == nil || t.Claim == nil || t.Claim.Epoch != epoch {
		return nil // settling says why
	}
	return l.WriteReport(string(c.Queue), task, epoch, data)
}

func (c *settle) read() ([]byte, error) {
	from := io.Reader(os.Stdin)
	if c.Report != "-" {
		f, err := os.Open(string(c.Report))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}

	data, err := io.ReadAll(io.LimitReader(from, mostReport+1))
	if err == nil && len(data) > mostReport {
		err = fmt.Errorf("%s is larger than 1 MiB", c.Report)
	}
	return data, err
}
