//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// An agency is a farm whose project, shop, agents.sh supervises. The text of each ticket, and the
// first part of the names of its files, is its id.
type agency struct {
	*farm
	variables string
}

var agentsFiles = []string{"agents.sh", "worker.sh", "permission.sh", "turn.sh", "agent.sh",
	"rules.json"}

func newAgency(t *testing.T) *agency {
	a := &agency{farm: &farm{t: t, bin: built(t), dir: t.TempDir()}}
	t.Cleanup(func() {
		a.cutPower()
		if t.Failed() {
			t.Logf("%s\n%s", a.shown("queues/shop.json"), strings.Join(a.logs("*"), "\n"))
			t.Log(a.shown("logs/shop/*.log"))
		}
	})
	if err := os.Mkdir(filepath.Join(a.dir, "agents"), 0o755); err != nil {
		t.Fatal(err)
	}

	// Whoever runs the test could change the rules, which is refused.
	lax := strings.NewReplacer(`--rules "$RULES"`, `--rules "$RULES" --allow-writable-rules`,
		`--signers "$SIGNERS"`, `--signers "$SIGNERS" --allow-writable-rules`)
	for _, name := range agentsFiles {
		write(t, filepath.Join(a.dir, "agents", name),
			lax.Replace(read(t, "scripts/examples/agents/"+name)), 0o755)
	}
	return a
}

// setUp starts the project with variables for agents.sh, which stay.
func (a *agency) setUp(variables string) {
	a.t.Helper()
	a.variables = variables
	a.must("start shop")
}

// exits runs a command of agents.sh, and checks its exit status. It returns what it prints.
func (a *agency) exits(want int, command string) string {
	a.t.Helper()
	out := a.sh(a.variables + " agents/agents.sh " + command + "; echo exit status $?")
	if !strings.HasSuffix(out, fmt.Sprintf("exit status %d\n", want)) {
		a.t.Fatalf("%s: want exit status %d, got\n%s", command, want, out)
	}
	return out
}

func (a *agency) must(command string) string { a.t.Helper(); return a.exits(0, command) }

// serve looks after the agents until it is stopped.
func (a *agency) serve() *exec.Cmd {
	return a.start("EVERY=0.1s exec agents/agents.sh serve shop")
}

// cutPower kills all that belongs to a ledger, and waits for the keepers, which end by themselves.
func (a *agency) cutPower() {
	var keepers []int
	if l, err := fileops.Open(filepath.Join(a.dir, "ledger"), fileops.Options{}); err == nil {
		g, _ := l.ReadGroup("shop") // there may be none yet, nor a queue
		for _, s := range g.Registry.Services {
			keepers = append(keepers, s.Keeper.PID)
		}
		q, _ := l.ReadQueue("shop")
		for _, task := range q.Tasks {
			if task.Claim != nil {
				keepers = append(keepers, task.Claim.Keeper.PID)
			}
		}
	}

	proc.EndAll(a.dir)
	for _, pid := range keepers {
		keeperEnds(a.t, pid)
	}
}

// keeperEnds waits for the end of a keeper; 0 is none.
func keeperEnds(t *testing.T, pid int) {
	t.Helper()
	poll.Until(t, "a keeper ends", func() bool {
		_, alive := proc.StartTicks(pid)
		return pid == 0 || !alive
	})
}

// ticket adds a ticket, and the file that its agent may want to remove.
func (a *agency) ticket(id, flags string) {
	a.t.Helper()
	write(a.t, filepath.Join(a.dir, id+".keep"), "", 0o644)
	a.must("ticket shop " + id + " " + id + " " + flags)
}

func (a *agency) eventually(what string, is func() bool) {
	a.t.Helper()
	poll.Until(a.t, what, is)
}

// questions returns the queue of questions. There is none before the first one.
func (a *agency) questions() (q queue.Queue) {
	l, err := fileops.Open(filepath.Join(a.dir, "ledger"), fileops.Options{})
	if err == nil {
		q, _ = l.ReadQueue("ask")
	}
	return q
}

// open returns the open questions.
func (a *agency) open() []*queue.Task { return a.questions().Tasks }

// asks waits until all these questions are open.
func (a *agency) asks(texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		a.eventually("the question "+text, func() bool { return a.question(text) != nil })
	}
}

// question returns the open question with text in it, or nil.
func (a *agency) question(text string) *queue.Task {
	for _, q := range a.open() {
		if strings.Contains(q.Ask.Text, text) {
			return q
		}
	}
	return nil
}

// answer answers the open question with text in it.
func (a *agency) answer(text, flags string) {
	a.t.Helper()
	a.asks(text)
	q := a.question(text)
	a.must("questions " + q.ID + " --shown " + q.Shown("ask").Hash() + " " + flags)
}

// answerAll allows what hides something, which must not reach the terminal, and denies all other
// questions but the one that answers itself, until all tickets are settled.
func (a *agency) answerAll() {
	a.t.Helper()
	a.eventually("all is settled", func() bool {
		for _, q := range a.open() {
			switch text := q.Ask.Text; {
			case strings.Contains(text, "at self"):
			case strings.Contains(text, "at forge") && a.lines("forge.forged") < 3:
			case strings.Contains(text, "all is well"):
				shown := a.must("questions") + a.must("questions "+q.ID) + a.must("status shop")
				if strings.Contains(shown, "\x1b") || strings.Count(shown, "all is well") < 3 {
					a.t.Errorf("it shows %q", shown)
				}
				a.must("questions " + q.ID + " --allow")
			default:
				a.must("questions " + q.ID + " --deny no")
			}
		}
		q := a.queue("shop")
		for i := range q.Tasks {
			if q.Tasks[i].State != queue.Dead {
				return false
			}
		}
		return true
	})
}

// settled waits until these tickets have ended or are dead.
func (a *agency) settled(tickets ...string) {
	a.t.Helper()
	for _, id := range tickets {
		a.eventually(id+" is settled", func() bool {
			task := a.queue("shop").Task(id)
			return task == nil || task.State == queue.Dead
		})
	}
}

func (a *agency) claimed(ticket string) bool {
	task := a.queue("shop").Task(ticket)
	return task != nil && task.State == queue.Claimed
}

// ended checks how a ticket has ended: its last attempt and their number, how its last question was
// decided, and whether its file was kept.
func (a *agency) ended(id string, end queue.End, attempts int, decision queue.TaskEnd, kept bool) {
	a.t.Helper()
	q := a.queue("shop")
	var last queue.Attempt
	if task := q.Task(id); task != nil {
		last = task.Last
	}
	for _, e := range q.Ended {
		if e.ID == id {
			last = e.Last
		}
	}

	if _, err := os.Stat(filepath.Join(a.dir, id+".keep")); (err == nil) != kept {
		a.t.Errorf("%s: its file: %v", id, err)
	}
	decided := a.decided(id)
	if got := len(a.logs(id)); last.End != end || got != attempts || decided.End != decision {
		a.t.Errorf("%s: %s after %d attempts, %q; want %s after %d, %q",
			id, last.End, got, decided.End, end, attempts, decision)
	}
	if decision != "" && decided.Decision.Self != (id == "self") {
		a.t.Errorf("%s: decided by itself: %t", id, decided.Decision.Self)
	}
}

// decided returns how the last question of the attempts at a ticket was decided.
func (a *agency) decided(ticket string) (last queue.Ended) {
	// The file of the questions keeps only the last ones.
	for _, e := range a.ledger().Lately(a.questions(), time.Time{}, 1000).Ended {
		if e.End.Decided() && strings.HasPrefix(e.Decision.Operation, "shop."+ticket+".") {
			last = e
		}
	}
	return last
}

func (a *agency) ledger() *fileops.Ledger {
	a.t.Helper()
	l, err := fileops.Open(filepath.Join(a.dir, "ledger"), fileops.Options{})
	if err != nil {
		a.t.Fatal(err)
	}
	return l
}

// running returns how many agents run.
func (a *agency) running() (n int) {
	g, err := a.ledger().ReadGroup("shop")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, s := range g.Registry.Services {
		if s.State == group.StateRunning {
			n++
		}
	}
	return n
}

// readiness returns what a call has said about itself.
func (a *agency) readiness(operation, call string) observe.Readiness {
	op, _, err := a.ledger().ReadOperation(operation)
	if err != nil || op.Frame(call) == nil {
		a.t.Fatal(err)
	}
	return op.Frame(call).Said().Readiness
}

// shown returns the content of files of the ledger.
func (a *agency) shown(pattern string) string {
	names, _ := filepath.Glob(filepath.Join(a.dir, "ledger", pattern))
	text := ""
	for _, name := range names {
		data, _ := os.ReadFile(name)
		text += name + ":\n" + string(data)
	}
	return text
}
