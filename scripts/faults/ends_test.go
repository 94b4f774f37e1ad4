//go:build linux

package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// Services that end, so that their keepers have work to do: they record the end, run the finish
// command, and make a pass that starts the service again (spec §19.5). Each start, and each finish
// command, writes down what it is.

// ending returns the step that registers a service which fails at its first start, and succeeds at
// the next. Each start ends with another status, and begins with some more shell.
func ending(more string) step {
	const run = `mkdir $res/busy || echo "$DPL_START" >>$res/twice
		n=$(cat $res/ran 2>/dev/null | wc -l)
		status=$((n == 0 ? 11 : 0))
		echo "$DPL_START $status" >>$res/ran
		rmdir $res/busy
		exit $status`
	const finish = `[ ! -e $res/busy ] || echo "$DPL_START" >>$res/twice
		echo "$DPL_START $DPL_EXIT_STATUS" >>$res/finished`

	return words(0, "dpl-register --group g --request --no-pass --service a --restart transient "+
		"--backoff 0 --max-attempts -1 --env PATH=/usr/bin:/bin --preflight true", "--finish", finish, "--", "sh", "-c",
		more+"\n"+run)
}

// lines returns the lines of a file of the resources, in words.
func (w *world) lines(name string) (lines [][]string) {
	text, _ := os.ReadFile(filepath.Join(w.base, "res", name))
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// completes makes passes until supervisor a has succeeded, and checks what has been written down. A
// kill hides the end of one start at most. If it hits a preflight, a is dead.
func completes(w *world) string {
	seconds, state := 2, group.ServiceState("")
	poll.Within(poll.Patience, func() bool {
		seconds++
		w.run(at(seconds, "dpl-orchestrate --group g"))
		state = w.stateOfA()
		return state == group.StateCompleted || state == group.StateDead
	})
	if !poll.Within(poll.Patience, func() bool { return len(w.keepers())+len(w.working()) == 0 }) {
		return fmt.Sprintf("a is %s, and there are keepers %v, and %v", state, w.keepers(),
			w.working())
	}

	ran, why := w.ranOnce()
	if why != "" {
		return why
	}

	// A record may have got its name after a pass had listed it.
	w.run(at(seconds+1, "dpl-orchestrate --group g"))
	left, _ := filepath.Glob(w.file("exits/*/*"))
	if left != nil {
		return fmt.Sprintf("records are left: %q", left)
	}

	told, err := w.told()
	const failure, success, refused = "exited: status 11", "exited: status 0",
		"terminal: preflight: signal 9"
	known := told[failure] + told[success]
	unknown := -known
	for _, n := range told {
		unknown += n
	}
	over := told[success] == 1 && state == group.StateCompleted ||
		told[refused] == 1 && told[success] == 0 && state == group.StateDead
	right := told[failure] <= ran["11"] && told[success] <= ran["0"] && unknown <= 1 &&
		known+unknown >= ran["11"]+ran["0"]
	if err != nil || !over || !right {
		return fmt.Sprintf("a is %s, starts ended with %v, and the alerts tell of %v (%v)", state, ran,
			told, err)
	}
	return ""
}

// ranOnce returns how many starts ended with each status, or that a start, or its finish command,
// ran twice, or beside another.
func (w *world) ranOnce() (ends map[string]int, why string) {
	ends = make(map[string]int)
	ran := make(map[string]string) // the status by the start
	for _, line := range w.lines("ran") {
		if ran[line[0]] != "" {
			return nil, "it ran twice: " + line[0]
		}
		ran[line[0]] = line[1]
		ends[line[1]]++
	}

	finished := make(map[string]bool)
	for _, line := range w.lines("finished") {
		right := cmp.Or(ran[line[0]], "9") // it was killed before it wrote anything
		if finished[line[0]] || line[1] != right {
			return nil, fmt.Sprintf("finished: %q, of %v", line, ran)
		}
		finished[line[0]] = true
	}
	if twice := w.lines("twice"); twice != nil {
		return nil, fmt.Sprintf("at the same time ran %q", twice)
	}
	return ends, ""
}

// told returns how often an alert tells of each end.
func (w *world) told() (map[string]int, error) {
	ends := []string{"supervisorFailed", "supervisorCompleted", "supervisorDead"}
	text, err := alertLines(w.file("g.alerts.jsonl"), w.links())
	told := make(map[string]int)
	for line := range strings.Lines(text) {
		var alert struct{ Type, Message string }
		if err := json.Unmarshal([]byte(line), &alert); err != nil {
			return nil, err
		}
		if slices.Contains(ends, alert.Type) {
			end, _, _ := strings.Cut(alert.Message, ": processes of it are left")
			end, _, _ = strings.Cut(end, ", finish ")
			told[end]++
		}
	}
	return told, err
}

// stateOfA returns the state of supervisor a.
func (w *world) stateOfA() group.ServiceState {
	text, err := os.ReadFile(w.file("g.supervisors.json"))
	if err != nil {
		return group.ServiceState(err.Error())
	}
	registry, err := group.DecodeRegistry(string(text))
	if err != nil {
		return group.ServiceState(err.Error())
	}
	return (&group.Group{Registry: registry}).Service("a").State
}
