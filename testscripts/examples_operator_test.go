//go:build linux

package testscripts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// heldAgent is the agent of the example, which hangs when it gets a task for the first time that is
// to be held.
const heldAgent = `#!/bin/sh
if mv "$FARM/hold-$DPL_TASK" "$FARM/held-$DPL_TASK" 2>/dev/null; then
    exec sleep 1000
fi
exec "$FARM/operator/agent.sh"
`

// TestOperator runs a project by the commands of operator.sh. An attempt at a task is wrong, one
// uncertain, one blocked, one killed, and everything is killed in the middle.
func TestOperator(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.must("init-state")
	p.exits(76, "init-state")
	p.shows("status HALTED: not started (operator)", "iteration 0", "goal open:", "mode AUTO",
		"last report none")
	p.must("set-goal --description 'Publish greet'")
	p.must("enqueue --task-file operator/tasks.json")
	p.exits(3, "start")
	p.unusable()
	p.shows("status HALTED: not started (operator)", "goal open: Publish greet",
		"queue 5 waiting, 0 claimed", "attempts 0")

	// The first attempt at task-001 is wrong, and the second one is told so. That at task-002 is
	// killed.
	p.hold("task-002")
	p.must("resume")
	start := p.start("AGENT=held operator/operator.sh start --project-id greet")
	p.held("task-002")
	p.shows("status RUNNING", "iteration 1, last task task-001", "queue 3 waiting, 1 claimed",
		"attempts 3: 1 rejected, 1 done")
	p.hold("task-005")
	syscall.Kill(-p.task("task-002").Claim.PID, syscall.SIGKILL)

	// Nobody can tell whether task-003 is done, and task-004 waits for an answer. While task-005 is
	// being done, an operator halts the project, and then all that works on it is killed.
	p.held("task-005")
	p.must("halt --reason 'to be looked at'")
	p.shows("status HALTED: to be looked at (operator)", "iteration 2, last task task-002",
		"queue 0 waiting, 1 claimed", "tasks 2 completed, 2 blocked: task-003, task-004",
		"last report task-004: blocked: Which colour has the logo? Write it to colour.txt.")
	keeper := p.task("task-005").Claim.Keeper.PID
	proc.EndAll(p.dir)
	start.Wait()
	keeperEnds(t, keeper)
	p.exits(3, "start")
	if got := p.task("task-003").Reason; got != "prose It is friendly.: a person must look" {
		t.Errorf("task-003 is blocked, %q", got)
	}

	// It goes on where it was.
	p.must("resume")
	p.shows("status RUNNING", "queue 1 waiting, 0 claimed",
		"attempts 7: 1 rejected, 2 done, 2 crashed, 1 uncertain, 1 blocked")
	p.exits(1, "start")
	p.shows("status RUNNING", "iteration 3, last task task-005",
		"queue 0 waiting, 0 claimed: exhausted")

	// A person looks and answers. No task is left then, but the goal is open.
	write(t, filepath.Join(p.dir, "sandbox/greet/colour.txt"), "teal\n", 0o644)
	p.exits(76, "accept --task task-004")
	p.must("retry --task task-004")
	p.must("accept --task task-003")
	p.exits(76, "accept --task task-003")
	p.shows("iteration 4, last task task-003", "queue 1 waiting, 0 claimed")
	p.exits(3, "start")
	p.shows("status HALTED: exhausted-goal-incomplete (policy)", "iteration 5, last task task-004",
		"tasks 5 completed, 0 blocked")
	p.must("set-goal --completed")
	p.must("resume")
	p.must("start")
	p.shows("status COMPLETED", "goal completed: Publish greet")
	p.made()
	record := p.sh("dpl-audit greet --task task-001 --json")
	for _, kind := range []string{"prompt", "response"} {
		if got := strings.Count(record, `"kind":"`+kind+`"`); got != 2 {
			t.Errorf("the record of task-001 has %d notes of a %s, want 2", got, kind)
		}
	}
}

// TestOperatorManual lets the tasks of a project go one by one. One never works, and does not hold
// up the others. A person rejects another.
func TestOperatorManual(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.exits(64, "init-state --execution-mode BOTH")
	p.exits(66, "start")
	p.must("init-state --execution-mode MANUAL")
	write(t, filepath.Join(p.dir, "tasks.json"), `
		{"task_id": "never", "instructions": "Sing.", "retry_policy": {"max_retries": 1}}
		{"task_id": "shape", "instructions": "Write release.json.",
		 "required_artifacts": ["release.json"],
		 "expected_json_schema": {"name": "string", "version": "integer"}}
		{"task_id": "tone", "instructions": "Write README.md.",
		 "acceptance_criteria": ["It is polite."]}`, 0o644)
	p.must("enqueue --task-file tasks.json")
	p.exits(74, "enqueue --task-file none.json")
	p.must("resume")
	p.exits(1, "start")
	p.shows("status RUNNING", "mode MANUAL, 0 may go", "attempts 0")

	p.must("step")
	p.shows("mode MANUAL, 1 may go")
	p.exits(1, "start")
	p.shows("mode MANUAL, 0 may go", "attempts 1: 1 failed",
		"last report never: failed: exit status 1")
	p.must("step")
	p.exits(1, "start")
	p.shows("tasks 0 completed, 1 blocked: never", "attempts 2: 2 failed")
	p.must("step")
	p.exits(1, "start")
	p.shows("status RUNNING", "iteration 1, last task shape", "mode MANUAL, 0 may go")

	p.must("step")
	p.exits(1, "start")
	p.shows("last report tone: uncertain: prose It is polite.: a person must look")
	p.exits(64, "reject --task tone")
	p.must("reject --task tone --reason 'it gushes'")
	p.shows("queue 1 waiting, 0 claimed", "last report tone: rejected: it gushes")
	p.must("step")
	p.exits(1, "start")
	prompt := p.text("ledger/queues/tasks/greet/tone~5.log")
	if !strings.Contains(prompt, "rejected: it gushes") {
		t.Errorf("the second prompt is\n%s", prompt)
	}
}

// TestOperatorPage runs the blocks of spec/operator.md in order, and compares the state that it
// shows.
func TestOperatorPage(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	page := strings.ReplaceAll(read(t, "spec/operator.md"), "/usr/local/share/dpl/examples", p.dir)
	made := section(t, page, "A project")
	state := fenced(t, made, "text")
	if out := p.sh("set -e\n" + fenced(t, made, "sh")); !strings.HasSuffix(out, state) {
		t.Errorf("it shows\n%s\nwant\n%s", out, state)
	}
	var task, first any
	if json.Unmarshal([]byte(fenced(t, made, "json")), &task) != nil ||
		json.Unmarshal([]byte(p.text("operator/tasks.json")), &first) != nil {
		t.Fatal("a task is no JSON")
	}
	if want := first.([]any)[0].(map[string]any); !contains(want, task.(map[string]any)) {
		t.Errorf("the first task is %v, the page says %v", want, task)
	}

	rest := blocks(section(t, page, "Look, answer, go on"), "sh")
	if len(rest) != 2 {
		t.Fatalf("%d blocks, want 2", len(rest))
	}
	path := "PATH=" + p.dir + "/operator:$PATH\n"
	out := p.sh(path + rest[0] + "[ $? = 3 ]")
	if !strings.Contains(out, "Is task task-003 of greet done?") {
		t.Errorf("it asks\n%s", out)
	}
	if out := p.sh(path + "set -e\n" + rest[1]); !strings.Contains(out, "COMPLETED") {
		t.Errorf("in the end it shows\n%s", out)
	}
	p.made()
}

// unusable starts with agents that are missing or cannot be executed: no task begins.
func (p *project) unusable() {
	p.t.Helper()
	write(p.t, filepath.Join(p.dir, "text"), "", 0o644)
	for _, agent := range []string{"missing", p.dir + "/missing", p.dir + "/text", p.dir} {
		p.must("resume")
		out := p.sh("AGENT=" + agent + " operator/operator.sh start --project-id greet; [ $? = 3 ]")
		if !strings.Contains(out, "not a program: "+agent) {
			p.t.Errorf("%s: it says %q", agent, out)
		}
		p.shows("status HALTED: notStarted (operator)", "attempts 0")
	}
	p.must("halt --reason 'not started'")
}

// contains reports whether all has the members of some.
func contains(all, some map[string]any) bool {
	for name, value := range some {
		if !reflect.DeepEqual(all[name], value) {
			return false
		}
	}
	return true
}

// A project is a farm with one queue, greet, which operator.sh controls.
type project struct{ *farm }

func newProject(t *testing.T) *project {
	p := &project{&farm{t: t, bin: built(t), dir: t.TempDir()}}
	t.Cleanup(func() { proc.EndAll(p.dir) })
	for _, dir := range []string{"tools", "operator"} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	write(t, filepath.Join(p.dir, "tools", "held"), heldAgent, 0o755)
	for _, name := range operatorFiles {
		write(t, filepath.Join(p.dir, "operator", name),
			read(t, "scripts/examples/operator/"+name), 0o755)
	}
	return p
}

var operatorFiles = []string{"operator.sh", "status.awk", "worker.sh", "agent.sh", "tasks.json"}

// exits runs a command of the project, and checks its exit status. It returns what it prints.
func (p *project) exits(want int, command string) string {
	p.t.Helper()
	out := p.sh("operator/operator.sh " + command + " --project-id greet; echo exit status $?")
	if !strings.HasSuffix(out, fmt.Sprintf("exit status %d\n", want)) {
		p.t.Fatalf("%s: want exit status %d, got\n%s", command, want, out)
	}
	return out
}

func (p *project) must(command string) { p.t.Helper(); p.exits(0, command) }

// shows checks lines of status, in which the first word may be followed by any number of spaces.
func (p *project) shows(lines ...string) {
	p.t.Helper()
	out := p.exits(0, "status")
	words := strings.Join(strings.Fields(strings.ReplaceAll(out, "\n", " | ")), " ")
	for _, line := range lines {
		if !strings.Contains("| "+words, "| "+line+" |") {
			p.t.Errorf("want %q in\n%s", line, out)
		}
	}
}

// hold makes the agent hang when it gets the task next; held waits for that.
func (p *project) hold(task string) {
	write(p.t, filepath.Join(p.dir, "hold-"+task), "", 0o644)
}

func (p *project) held(task string) {
	p.t.Helper()
	poll.Until(p.t, "the agent has "+task, func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "held-"+task))
		return err == nil
	})
}

func (p *project) task(id string) *queue.Task {
	p.t.Helper()
	found := p.queue("greet").Task(id)
	if found == nil {
		p.t.Fatalf("there is no %s", id)
	}
	return found
}

// made checks the files of the project, and that the second attempt at task-001 was told of the
// first one.
func (p *project) made() {
	p.t.Helper()
	for name, want := range map[string]string{
		"greet.sh": "Hello, $1!", "release.json": `"version": 1`, "README.md": "nice of you",
		"logo.svg": "fill='teal'", "MANUAL.md": "Hello, $1!",
	} {
		if got := p.text(filepath.Join("sandbox/greet", name)); !strings.Contains(got, want) {
			p.t.Errorf("%s: want %q in\n%s", name, want, got)
		}
	}

	prompt := p.text("ledger/queues/tasks/greet/task-001~2.log")
	for _, want := range []string{`"Hello, NAME!"`, "did not do that: rejected: command sh -c test",
		`"found": "it exited 1"`} {
		if !strings.Contains(prompt, want) {
			p.t.Errorf("the second prompt: want %q in\n%s", want, prompt)
		}
	}
}
