//go:build linux

package operated

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// An alert is a line of the alerts file, or what a hook got.
type alert struct {
	Seq                                    int
	Type, SupervisorID, Message, Timestamp string
}

func alerts(text string) (all []alert) {
	for line := range strings.Lines(text) {
		var a alert
		if json.Unmarshal([]byte(line), &a) == nil {
			all = append(all, a)
		}
	}
	return all
}

// raised returns the alerts of the group.
func (w *world) raised() []alert {
	var text string
	for _, name := range []string{".alerts.jsonl.1", ".alerts.jsonl"} {
		part, _ := os.ReadFile(filepath.Join(w.ledger(), group+name))
		text += string(part)
	}
	return alerts(text)
}

// due returns the numbers of the alerts that a hook must get. It does not get a failure that was
// decided together with the restart in the next line.
func due(all []alert) (numbers []int) {
	for i, a := range all {
		if a.Type == "supervisorFailed" && i+1 < len(all) && all[i+1].Type == "supervisorRestarted" &&
			all[i+1].SupervisorID == a.SupervisorID && all[i+1].Timestamp == a.Timestamp {
			continue
		}
		numbers = append(numbers, a.Seq)
	}
	return numbers
}

// alerted waits until the hook has got the alerts that are due. A hook that failed is tried again
// after a minute.
func (w *world) alerted() {
	want := due(w.raised())
	var got, lacks []int
	if !poll.Within(time.Minute+back, func() bool {
		got = nil
		for _, a := range alerts(w.text("hooked")) {
			got = append(got, a.Seq)
		}
		lacks = slices.DeleteFunc(slices.Clone(want), func(n int) bool { return slices.Contains(got, n) })
		return len(lacks) == 0
	}) {
		w.fault("the hook has not got the alerts %v", lacks)
	}
	once := slices.Compact(slices.Clone(got))
	w.mu.Lock()
	again := len(got) - len(once) - w.lost
	w.mu.Unlock()
	if !slices.IsSorted(got) || again > 0 { // the passes that were killed may have given one
		w.fault("the hook has got alerts in the order %v", got)
	}
}

// end checks what must be true in the end, and stops the services.
func (w *world) end() {
	all := w.raised()
	for i, a := range all {
		if a.Seq != i+1 {
			w.fault("alert %d has the number %d", i+1, a.Seq)
			break
		}
	}
	w.deaths(all)
	if n := len(w.lines("migrated")); n != 1 {
		w.fault("the migration has succeeded %d times", n)
	}
	// One that has given an alert cannot always record that on a full disk.
	full := strings.Contains(w.text("said"), "this could not be recorded: ") &&
		strings.Contains(w.text("said"), "no space left on device")
	for _, status := range w.lines("passes") {
		if status != "0" && status != "75" && status != "137" && // done, busy, killed
			!(status == "71" && full) {
			w.fault("a pass exits %s; passes have said:\n%s", status, w.text("said"))
			break
		}
	}

	w.do("dpl-doctor", "--quiet")
	w.do("dpl-shutdown", "--all", "--wait")
	left := map[string][]string{}
	if !poll.Within(poll.Patience, func() bool { left = w.now().living(); return len(left) == 0 }) {
		w.fault("after the shutdown of all services, these run: %v", left)
	}
}

// deaths compares the starts of each service with the alerts. Each start except the first follows
// an alert about the death before it, or the request of a person. A pass that was killed may have
// raised an alert whose start came to nothing, and a service may be about to start.
func (w *world) deaths(all []alert) {
	w.mu.Lock()
	lost, asks := w.lost, w.asks
	w.mu.Unlock()
	s := w.now()
	for _, service := range services {
		starts := 0
		for _, line := range s.starts {
			if strings.HasPrefix(line, service+" ") {
				starts++
			}
		}
		causes := 1 + asks[service]
		for _, a := range all {
			switch {
			case a.Type == "supervisorRestarted" && a.SupervisorID == service,
				a.Type == "hostRebooted" && slices.Contains(strings.FieldsFunc(a.Message,
					func(r rune) bool { return r == ' ' || r == ',' }), service):
				causes++
			}
		}
		if causes < starts || causes > starts+lost+1 {
			w.fault("%s was started %d times, and alerts and requests account for %d", service, starts,
				causes)
		}
	}
}
