//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/queue"
)

// timeRemembered times the addition of a task to a queue of which many have ended long ago, and to one
// of which few have.
func (b *bench) timeRemembered() error {
	var turns []turn
	for _, c := range []struct {
		who  string
		many int
	}{{"remembered-none", 0}, {"remembered-all", b.plan.remembered}} {
		const waiting = 100 // when they have ended, some of them are remembered elsewhere as well
		ledger, err := b.newQueue(c.who, 0, waiting)
		if err == nil {
			err = writeEnded(ledger, c.many)
		}
		argv := func(command string) []string {
			return []string{b.command(command), "q", "--ledger", ledger}
		}
		if err == nil {
			_, err = b.prepare("sh", "-c", "while t=$("+shell(argv("dpl-claim"))+" --pid $$); do "+
				shell(argv("dpl-settle"))+" --task ${t% *} --epoch ${t#* } --done; done")
		}
		if err != nil {
			return err
		}

		added := 0
		turns = append(turns, turn{contestants: []contestant{{name: named(enqueue, 0, c.who),
			steps: func() [][]string {
				added++
				return [][]string{append(argv("dpl-enqueue"), "--id", fmt.Sprint("new-", added), "--", "true")}
			}}}})
	}
	return b.race(turns, b.plan.rounds)
}

// writeEnded remembers tasks that ended long ago in the queue of a ledger.
func writeEnded(ledger string, many int) error {
	f, err := os.Create(strings.TrimSuffix(queueFile(ledger), ".json") + ".ended.jsonl")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewWriter(f)
	ended := queue.Ended{End: queue.EndedDone, Spec: queue.Content("{}").Hash()}
	for i := range many {
		ended.ID, ended.At = fmt.Sprint("old-", i), time.UnixMilli(int64(i))
		r := queue.Remembered{Seq: int64(i) + 1, Ended: ended}
		if _, err := lines.WriteString(r.Line() + "\n"); err != nil {
			return err
		}
	}
	return lines.Flush()
}
