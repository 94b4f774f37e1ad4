//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// TestAgents supervises agents that misbehave. Everything is killed in the middle, and goes on.
func TestAgents(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.setUp("RULES=agents/rules.json BACKOFF=0")
	serve := a.serve()

	// Two wait for a person, and one asks without end, when everything is killed.
	a.ticket("obey", "")
	a.ticket("patient", "")
	a.ticket("flood", "--max-attempts 2")
	a.asks("obey [Bash: rm", "patient [Bash: rm", "flood 15")
	a.cutPower()
	serve.Wait()
	before := a.open()
	for i := range before {
		if before[i].Ask == nil {
			t.Fatalf("%s is not open", before[i].ID)
		}
	}
	a.must("status shop")
	if got := len(a.queue("shop").Tasks); got != 3 {
		t.Errorf("%d tickets are left, want 3", got)
	}

	// Whoever looks next goes on. Nobody waits for the old answers.
	serve = a.serve()
	a.eventually("they ask again", func() bool {
		open := a.open()
		return len(open) == 18 && !slices.ContainsFunc(open, func(q *queue.Task) bool {
			return slices.ContainsFunc(before, func(p *queue.Task) bool { return p.Seq == q.Seq })
		})
	})
	a.answer("obey", "--deny 'keep it'")
	a.answer("patient", "--allow")
	a.settled("obey", "patient")
	write(t, filepath.Join(a.dir, "flood.calm"), "", 0o644)
	a.settled("flood")

	// The others. A person denies all but the question that hides something.
	for _, mode := range []string{"self", "hide", "fork", "crash"} {
		a.ticket(mode, "--max-attempts 2")
	}
	write(t, filepath.Join(a.dir, "defy.json"), `{"files": ["defy.keep"]}`, 0o644)
	write(t, filepath.Join(a.dir, "lazy.json"), `{"files": ["lazy.done"]}`, 0o644)
	a.ticket("forge", "--max-attempts 1")
	a.ticket("defy", "--max-attempts 1 --check defy.json")
	a.ticket("lazy", "--check lazy.json")
	a.answerAll()

	a.ended("obey", queue.Done, 2, "denied", true)
	a.ended("patient", queue.Done, 2, "allowed", false)
	a.ended("flood", queue.Failed, 2, "", true)
	a.ended("forge", queue.Failed, 1, "denied", true)
	a.ended("self", queue.Done, 1, "allowed", false)
	a.ended("hide", queue.Done, 1, "allowed", true)
	a.ended("fork", queue.Done, 1, "", true)
	a.ended("crash", queue.Done, 2, "", true)
	a.ended("defy", queue.Rejected, 1, "denied", false)
	a.ended("lazy", queue.Done, 2, "", true)
	if got := a.text("flood.asked"); got != "16 76\n" {
		t.Errorf("it asked %q", got)
	}
	if got := a.text("forge.forged"); got != strings.Repeat("76\n", 3) {
		t.Errorf("it answered itself with %q", got)
	}
	if pid := a.text("fork.left"); exec.Command("kill", "-0", strings.TrimSpace(pid)).Run() == nil {
		t.Errorf("the process %s is left", pid)
	}

	history := a.must("history shop")
	for _, want := range []string{"obey claimed by shop-", "defy settled: rejected", "denied by",
		"With: dpl-answer q", "--allow --allow-self"} {
		if !strings.Contains(history, want) {
			t.Errorf("want %q in %s", want, history)
		}
	}
	a.must("history shop --verify")

	serve.Process.Signal(syscall.SIGTERM)
	serve.Wait()
	a.stops()
}

// stops stops and starts the project, which has three agents, without passes.
func (a *agency) stops() {
	a.t.Helper()
	a.must("stop shop")
	a.must("ticket shop late slow")
	if q := a.queue("shop"); q.State() != queue.Halted || a.running() != 3 {
		a.t.Errorf("%s, %d agents", q.State(), a.running())
	}
	a.variables = "" // they count when an agent is made
	a.must("start shop")
	a.eventually("it is claimed", func() bool { return a.claimed("late") })
	a.must("stop shop --host")
	if task := a.queue("shop").Task("late"); a.running() != 0 || task.State != queue.Waiting ||
		task.Last.End != queue.Released || task.Charged != 0 {
		a.t.Errorf("%d agents, %s", a.running(), a.queue("shop").Encode())
	}
	a.must("delete shop shop-3")
	a.must("create shop shop-4")
	a.exits(66, "describe shop shop-3")
	if a.running() != 1 {
		a.t.Errorf("%d agents:\n%s", a.running(), a.must("describe shop shop-4"))
	}
	a.must("abort shop shop-4")
}

// TestAgentsSilence has agents that write nothing: one hangs, one needs to be told to go on, one
// waits for a person, and one is idle.
func TestAgentsSilence(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.setUp("NUDGE=1s SILENCE=3s BACKOFF=0")
	a.must("create shop shop-4")
	for _, mode := range []string{"hang", "slow", "patient", "idle"} {
		a.ticket(mode, "--max-attempts 1")
	}

	a.eventually("the patient one asks", func() bool { return len(a.open()) == 1 })
	a.settled("hang", "slow")
	a.ended("hang", queue.Silent, 1, "", true)
	a.ended("slow", queue.Done, 1, "", true)
	if !a.claimed("patient") || !a.claimed("idle") {
		t.Fatalf("they do not wait: %s", a.queue("shop").Encode())
	}
	a.nudged("hang", 1)
	a.nudged("slow", 1)
	a.nudged("patient", 0)
	a.nudged("idle", 0)

	idle := a.queue("shop").Task("idle").Claim
	if got := a.readiness(idle.Operation, idle.Call); got != observe.ReadinessIdle {
		t.Errorf("it is %s", got)
	}
	list := regexp.MustCompile(`(?m)^ *` + idle.Participant + ` +running .* idle$`)
	if out := a.must("status shop"); !list.MatchString(out) || strings.Count(out, "idle\n") != 1 {
		t.Errorf("the list does not show that %s alone is idle:\n%s", idle.Participant, out)
	}
	a.must("send shop " + idle.Participant + " 'please go on'")
	a.answer("patient", "--allow")
	a.settled("patient", "idle")
	a.ended("patient", queue.Done, 1, "allowed", false)
	a.ended("idle", queue.Done, 1, "", true)
	if q := a.queue("mail." + idle.Participant); q.Counters.Done != 1 {
		t.Errorf("the message is not settled: %s", q.Encode())
	}
}

// TestAgentsMessage kills an agent that has taken a message: its next attempt gets it again.
func TestAgentsMessage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.must("start shop 1")
	a.must("send shop shop-1 'use the test database'")
	a.ticket("forget", "")
	a.settled("forget")
	a.ended("forget", queue.Done, 2, "", true)
	for _, log := range a.logs("forget") {
		if !strings.Contains(log, "use the test database") {
			t.Errorf("an attempt did not get it:\n%s", log)
		}
	}
	q := a.queue("mail.shop-1")
	if q.Counters.Done != 1 || q.Counters.Claimed != 2 || !q.Idle() {
		t.Errorf("the message: %s", q.Encode())
	}
}

// TestAgentsUsage: what is wrong with a command is told, and changes nothing.
func TestAgentsUsage(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	for _, args := range []string{"", "start", "start ''", "start shop many", "stop shop --all",
		"dance shop", "ticket shop one", "ticket shop '' text", "tickets shop", "claim shop one",
		"send shop shop-1"} {
		a.exits(64, args)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "ledger")); err == nil {
		t.Fatal("there is a ledger")
	}
	a.exits(66, "ticket shop one text")
	a.exits(66, "status shop")
	a.must("start shop 0")
	a.exits(66, "send shop nobody text")
	a.must("stats shop")
	a.must("questions")

	// A ticket is claimed by one process at a time.
	a.must("ticket shop one text")
	a.must("ticket shop one text")
	a.exits(76, "ticket shop one other")
	said := a.sh("agents/agents.sh claim shop one $$ && agents/agents.sh claims shop; " +
		"agents/agents.sh claim shop one $PPID; [ $? = 76 ] || echo wrong status")
	if !strings.Contains(said, "\none ") || strings.Contains(said, "wrong") {
		t.Errorf("the claims: %s", said)
	}
	if said := a.sh("agents/turn.sh"); said != "" { // status 2 would keep the agent busy for ever
		t.Errorf("without a ticket it says %q", said)
	}
}

// logs returns what the attempts at a ticket have written.
func (a *agency) logs(ticket string) (all []string) {
	names, _ := filepath.Glob(filepath.Join(a.dir, "ledger/queues/tasks/shop", ticket+"~*.log"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			a.t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return all
}

// nudged checks how often the agent of a ticket was nudged.
func (a *agency) nudged(ticket string, want int) {
	a.t.Helper()
	got := 0
	names, _ := filepath.Glob(filepath.Join(a.dir, "ledger/logs/shop/*.log"))
	for _, name := range names {
		data, _ := os.ReadFile(name)
		got += strings.Count(string(data), fmt.Sprintf("task %s: no output for 1s: running", ticket))
	}
	if got != want {
		a.t.Errorf("%s was nudged %d times, want %d", ticket, got, want)
	}
}
