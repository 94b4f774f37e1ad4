//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// table prints the results in files, and returns their errors: a ledger that commits by link has
// lost an edit; or of those that commit by rename, which are the control, none has, although a host
// was cut off.
func table(files []string) (wrong []string) {
	controls, caught := 0, 0
	fmt.Println("| file system | options | commit | acknowledged | lost | refused | ms/edit | " +
		"reads: bad, torn, stale; on a host that only reads | zombie |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")

	for _, r := range results(files) {
		name := strings.TrimSpace(r.FS + " " + r.Version)
		if r.Cuts > 0 {
			r.Options += fmt.Sprintf(", cut off %d times", r.Cuts)
		}
		if r.Stuck {
			r.Options += ", hung"
		}

		if r.Left != "" {
			fmt.Printf("| %s | %s | %s | %s | | | | | |\n", name, r.Options, r.Commit, r.Left)
			continue
		}
		if r.Queues != nil {
			continue
		}

		fmt.Printf("| %s | %s | %s | %d of %d | %s | %s | %.1f | %s | %s |\n", name, r.Options,
			r.Commit, r.Acked, r.Wanted,
			r.losses(), r.refusals(), r.MsPerEdit, r.reads(), r.zombies())
		switch {
		case r.Commit == "link" && r.wrong():
			wrong = append(wrong, name+", "+r.Options+": it has lost, torn or made what it should "+
				"not")
		case r.Commit == "rename" && len(r.Zombies) > 1:
			controls++
			if r.wrong() {
				caught++
			}
		}
	}

	if controls > 0 && caught == 0 {
		wrong = append(wrong, "no control has lost anything: the rig does not test what it should")
	}

	return append(wrong, queueTable(files)...)
}

// queueTable prints what was done with queues, and returns what was wrong.
func queueTable(files []string) (wrong []string) {
	fmt.Println("\n| queue on | options | commit | what | commands | revisions | claims | killed | " +
		"refused | came back after | wrong |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range results(files) {
		options := r.Options
		if r.Cuts > 0 {
			options += fmt.Sprintf(", cut off %d times", r.Cuts)
		}
		for _, q := range r.Queues {
			what := fmt.Sprintf("%s, %d clients", q.Name, q.Clients)
			if q.Histories+q.Undecided > 0 {
				what += fmt.Sprintf(", %d explained, %d not in time", q.Histories, q.Undecided)
			}
			fmt.Printf("| %s %s | %s | %s | %s | %d | %d | %d | %v | %v | %v ms | %d |\n", r.FS, r.Version,
				options, r.Commit, what, q.Commands, q.Revisions, q.Claims, q.Kills, q.Refused, q.Took,
				len(q.Faults))
			for _, fault := range q.Faults {
				wrong = append(wrong, fmt.Sprintf("%s, %s, %s, %s: %s", r.FS, options, r.Commit, q.Name, fault))
			}
		}
	}
	return wrong
}

func results(files []string) (all []Result) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		check(err)
		for line := range strings.Lines(string(data)) {
			var r Result
			if text, ok := strings.CutPrefix(line, "RESULT "); ok {
				check(json.Unmarshal([]byte(text), &r))
				all = append(all, r)
			}
		}
	}

	return all
}

// wrong reports whether something is not as acknowledged or refused.
func (r *Result) wrong() bool {
	return r.Lost > 0 || r.Order > 0 || r.Torn > 0 || len(r.Contradicted) > 0 ||
		slices.ContainsFunc(r.Zombies, func(z Zombie) bool {
			return z.Lost > 0 || strings.HasPrefix(z.Verdict, "no ") ||
				strings.HasPrefix(z.Verdict, "refused")
		})
}

func (r *Result) losses() string {
	text := fmt.Sprint(r.Lost)
	if r.Order > 0 {
		text += fmt.Sprintf(", %d out of order", r.Order)
	}
	if len(r.Contradicted) > 0 {
		text += fmt.Sprintf(", %d refused but made", len(r.Contradicted))
	}
	return text
}

func (r *Result) refusals() string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(r.Statuses)) {
		if strings.HasPrefix(status, "status") {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %d", status, r.Statuses[status]))
	}

	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (r *Result) reads() string {
	watched := "not run"
	if r.WatchedReads > 0 {
		watched = fmt.Sprintf("%.1f s", r.WatchedStaleMs/1000)
	}
	return fmt.Sprintf("%d: %d, %d, %.0f ms; %s", r.Reads, r.BadReads, r.Torn, r.StaleMs, watched)
}

func (r *Result) zombies() string {
	var parts []string
	for _, z := range r.Zombies {
		parts = append(parts, z.Kind+": "+z.Verdict)
	}
	if parts == nil {
		return "not run"
	}
	return strings.Join(parts, "; ")
}
