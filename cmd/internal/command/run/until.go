package run

import (
	"fmt"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// until waits until there are no processes left, for at most limit. Its error says that a signal
// asks this process to end.
func until(signals <-chan os.Signal, limit time.Duration, left func() []int) error {
	end := time.Now().Add(limit)
	for pause := 5 * time.Millisecond; len(left()) > 0 && time.Now().Before(end); {
		if err := asked(signals, nil, pause); err != nil {
			return err
		}
		pause = min(2*pause, 200*time.Millisecond)
	}
	return nil
}

// asked waits for d, or until news come. Its error says that a signal asks this process to end.
func asked(signals <-chan os.Signal, news <-chan struct{}, d time.Duration) error {
	if sig := runner.Asked(signals, news, d); sig != 0 {
		return cli.WithStatus(128+int(sig), fmt.Errorf("%s ended the wait for the end of its last run",
			process.SignalName(sig)))
	}
	return nil
}
