//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// timeAudit times edits of an operation with a record and without, and how fast a record is
// verified.
func (b *bench) timeAudit() error {
	var turns []turn
	for _, who := range []string{"unrecorded", "dpl"} {
		ledger, err := b.newStack("audit-"+who, b.plan.frames[0], false)
		if err != nil {
			return err
		}
		if who == "dpl" {
			if _, err := b.prepare(b.command("dpl-audit"), "--ledger", ledger, "--op", "op", "--on"); err != nil {
				return err
			}
		}
		edit := func(command string, more ...string) []string {
			return append([]string{b.command(command), "--ledger", ledger, "--op", "op", "--call", "new"}, more...)
		}
		turns = append(turns, turn{contestants: []contestant{{name: "audit/" + who, steps: func() [][]string {
			return [][]string{edit("dpl-push", "--participant", "worker-new"), edit("dpl-pop")}
		}}}})
	}
	if err := b.race(turns, b.plan.rounds); err != nil {
		return err
	}
	b.printTimes("push and pop, with a record", "audit/unrecorded", "audit/")

	ledger := filepath.Join(b.work, "verify")
	if _, err := b.prepare(b.command("dpl-queue"), "q", "--ledger", ledger, "--create"); err != nil {
		return err
	}
	lines, err := longRecord(ledger, b.plan.recorded)
	if err != nil {
		return err
	}
	for round := range b.plan.verifies {
		took, err := b.once(contestant{argv: []string{b.command("dpl-audit"), "q", "--ledger", ledger, "--verify"}})
		if err != nil {
			return err
		}
		b.results.add("audit/verified", "lines/s", round, float64(lines)/took.Seconds())
	}
	return nil
}

// longRecord gives the queue q the record of so many tasks that are enqueued, claimed and done, and
// returns the number of its lines.
func longRecord(ledger string, tasks int) (lines int, err error) {
	q := queue.Create("q")
	seen := queue.Seen{Observation: observe.Observation{Now: time.Now()}}
	by := audit.By{User: "1000", Command: "dpl-settle q --task t89 --epoch 100 --done",
		Process: observe.Process{PID: 24147, HostID: "75ff6945b9d096b3", StartTicks: 3603425,
			BootID: "469dfd8d-7f4f-47c2-83e9-051cbdf412ed", PIDNamespace: "4026531836"}}
	who := queue.Claimer{Participant: "worker", PID: 24147, Process: by.Process}

	var log strings.Builder
	edit := func(after queue.Queue, verbErr error) {
		patch := after.AuditPatch(q)
		if q.Revision == 0 {
			patch = audit.Diff(nil, "", "", after.AuditText())
		}
		chain := q.Audit.Append(audit.Entry{At: seen.Now, Verb: after.Effects().Verb, By: by,
			Revision: after.Revision, Patch: patch})
		log.WriteString(chain.Pending[0] + "\n")
		chain.Pending = nil
		q, err = after, verbErr
		q.Audit = chain
		lines++
	}
	for i := 0; i < tasks && err == nil; i++ {
		edit(q.Enqueue([]queue.New{{ID: taskID(i), Spec: `{"argv":["./ci.sh"],"dir":"/srv/src"}`}}, seen))
		after, t, claimErr := q.Claim(who, "", seen)
		if edit(after, claimErr); err == nil {
			edit(q.Settle(queue.Settlement{Task: t.ID, Epoch: t.Claim.Epoch,
				Outcome: queue.Outcome{End: queue.Done}}, seen))
		}
	}

	for name, text := range map[string]string{"q.json": q.Encode(), "q.audit.jsonl": log.String()} {
		if err == nil {
			err = os.WriteFile(filepath.Join(ledger, "queues", name), []byte(text), 0o600)
		}
	}
	return lines, err
}
