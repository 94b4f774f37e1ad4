package settle

import "fmt"

// mostReport is the size of the largest report that is kept.
const mostReport = 1 << 20

// report returns the report that the flag names, or "".
func (c *settle) report() (string, error) {
	if c.Report == "" {
		return "", nil
	}

	text, err := c.Report.Read(mostReport)
	if err != nil {
		return "", fmt.Errorf("--report: %w", err)
	}
	return text, nil
}
