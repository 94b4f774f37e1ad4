//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Facts are what the files of a ledger say: by name, as JSON without what differs from run to run.
type facts map[string]string

func (f facts) equal(g facts) bool { return maps.Equal(f, g) }

// versioned is the name of a JSON file, or of one of its versions that were committed by link.
var versioned = regexp.MustCompile(`^(.+\.json)(?:\.([0-9]+))?$`)

// facts reads the ledger, and returns an error for each invalid file. A copy of a registry counts
// if copies is set.
func (w *world) facts(copies bool) (facts, error) {
	f, newest := make(facts), make(map[string]int)
	err := filepath.WalkDir(w.ledger(), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.ledger(), path)
		switch {
		case err != nil:
			return ignoreMissing(err)
		case rel == "tmp" || rel == "logs" || rel == "restarts" || rel == "exits" ||
			rel == "queues/tasks":
			// no facts, and random names
			return fs.SkipDir
		case d.IsDir() || !copies && strings.Contains(rel, "~supervisors~"):
			return nil
		case strings.HasSuffix(rel, ".ended.jsonl"): // written before the edit: see remembered
			_, err = alertLines(path, w.links())
			return err
		case strings.HasSuffix(rel, ".alerts.jsonl"):
			f[rel], err = alertLines(path, w.links())
			return err
		}

		m := versioned.FindStringSubmatch(rel)
		if m == nil {
			return nil
		}

		text, err := whole(path, m[1])
		if err != nil || m[1] == "ledger.json" {
			return err
		}

		number, _ := strconv.Atoi(m[2])
		if number >= newest[m[1]] {
			f[m[1]], newest[m[1]] = text, number
		}

		return nil
	})

	for name, number := range newest {
		var state struct{ Revision int }
		if json.Unmarshal([]byte(f[name]), &state); state.Revision < number { // the end: spec/shared.md, 17.1
			f.archived(filepath.Base(name), f[name])
			delete(f, name)
		}
	}

	if err == nil && f["operations/o.json"] != "" {
		err = w.verifyMain()
	}
	if err == nil && f["g.supervisors.json"] != "" {
		err = w.verifyGroup()
	}
	if err == nil && f["queues/q.json"] != "" {
		f["the record of q"], err = w.record()
	}
	return f, err
}

// archived adds the copy that an operation that is over will have in the archive, unless it has
// one.
func (f facts) archived(file, text string) {
	id := strings.TrimSuffix(file, ".json")
	name, n := "archive/"+file, 1
	for f[name] != "" && f[name] != text {
		n++
		name = fmt.Sprintf("archive/%s~%d.json", id, n)
	}
	f[name] = text
}

// links reports whether the ledger commits by link.
func (w *world) links() bool {
	data, _ := os.ReadFile(w.file("ledger.json"))
	return bytes.Contains(data, []byte(`"link"`))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// whole returns the file name of a ledger, at path, as JSON to compare, or an error if the protocol
// would refuse it.
func whole(path, name string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}

	text := string(data)
	switch {
	case name == "ledger.json":
	case strings.HasSuffix(name, ".orchestrator.json"):
		_, err = group.DecodeOrchestrator(text)
	case strings.HasSuffix(name, ".supervisors.json"), strings.Contains(name, "~supervisors~"):
		_, err = group.DecodeRegistry(text)
	case strings.HasPrefix(name, "queues/"):
		_, err = queue.Decode(text)
	default:
		_, err = protocol.Decode(text)
	}

	if err != nil {
		return "", fmt.Errorf("torn: %s: %w:\n%s", path, err, text)
	}

	if strings.HasPrefix(name, "queues/ask") {
		data = drawn.ReplaceAll(data, []byte(`""`))
	}
	return comparable(data)
}

// drawn are the ids of questions, which are drawn, and times, which are those of the clock.
var drawn = regexp.MustCompile(`"(?:q[a-z2-7]{10}|20\d\d-[^"]*Z)"`)

// alertLines returns the complete lines of a file of alerts, which are numbered from 1. If several
// passes may append at once, there may be empty and duplicate lines.
func alertLines(path string, several bool) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}

	var all []string
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, line := range lines[:len(lines)-1] {
		var alert struct{ Seq int }
		err := json.Unmarshal(line, &alert)
		if several && (err != nil || alert.Seq <= len(all)) {
			continue
		}
		if err != nil || alert.Seq != len(all)+1 {
			return "", fmt.Errorf("torn: %s: line %d is %s (%v)", path, i+1, line, err)
		}

		text, err := comparable(line)
		if err != nil {
			return "", err
		}

		all = append(all, text)
	}

	return strings.Join(all, "\n"), nil
}

// volatile are the members that identify a run or a process, tell what it has used, or list what
// could not be deleted: a fault may show there.
var volatile = []string{"runId", "pid", "process", "beat", "orchestratorPid", "leftResources",
	"startId", "keeper", "logDevice", "logInode", "cpuMs", "maxRssKb", "audit", "prev", "nonce", "shown"}

func comparable(data []byte) (string, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}

	drop(value)
	text, err := json.Marshal(value)
	return string(text), err
}

func drop(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range volatile {
			delete(v, name)
		}
		for _, member := range v {
			drop(member)
		}
	case []any:
		for _, element := range v {
			drop(element)
		}
	}
}

// differences says how f differs from want.
func (f facts) differences(want facts) string {
	var out strings.Builder
	names := slices.Sorted(maps.Keys(f))
	for name := range want {
		if _, ok := f[name]; !ok {
			names = append(names, name)
		}
	}

	for _, name := range names {
		if f[name] != want[name] {
			fmt.Fprintf(&out, "%s: got  %s\n%s: want %s\n", name, f[name], name, want[name])
		}
	}

	return out.String()
}

var leftover = regexp.MustCompile(`\.tmp~|\.dpl~|\.dpl-trash-`)

// leftovers returns what no command needs any more: temporary files, trash, and locks and temporary
// directories without an owner.
func (w *world) leftovers() []string {
	var found []string
	filepath.WalkDir(w.base, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.base, path)
		dir, name := filepath.Split(rel)
		switch {
		case err != nil:
			found = append(found, err.Error())
		case leftover.MatchString(name),
			dir == "L/tmp/" && !w.exists("operations/"+name+".json"),
			dir == "L/operations/" && strings.HasSuffix(name, ".lock") &&
				!w.exists("operations/"+strings.TrimSuffix(name, ".lock")),
			dir == "L/queues/" && strings.HasSuffix(name, ".lock") &&
				!w.exists("queues/"+strings.TrimSuffix(name, ".lock")),
			dir == "L/" && strings.HasSuffix(name, ".lock") &&
				!w.exists(strings.TrimSuffix(name, ".lock")+".supervisors.json"):
			found = append(found, rel)
		}

		return nil
	})

	return append(found, w.spent()...)
}

// spent returns the temporary directories of calls that are not open. If hosts may lose a lock,
// they stay for an hour.
func (w *world) spent() (found []string) {
	dirs, _ := filepath.Glob(w.file("tmp/*/*"))
	for _, dir := range dirs {
		op, name := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		text, err := os.ReadFile(w.file("operations/" + op + ".json"))
		if err == nil && !w.links() && !hasFrame(text, name) {
			found = append(found, "tmp/"+op+"/"+name)
		}
	}

	return found
}

// hasFrame reports whether the call that a temporary directory is named after, as RUN~CALL, is open
// in an operation.
func hasFrame(text []byte, name string) bool {
	op, err := protocol.Decode(string(text))
	run, call, _ := strings.Cut(name, "~")
	return err != nil || op.RunID == run && op.Frame(call) != nil
}

// exists reports whether the ledger has this file, in some version.
func (w *world) exists(name string) bool {
	_, err := os.Lstat(w.file(name))
	links, _ := filepath.Glob(w.file(name) + ".[0-9]*")
	return err == nil || len(links) > 0
}
