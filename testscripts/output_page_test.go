//go:build unix

package testscripts

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// otherOutputs are the schemas in spec/output that are of no command.
var otherOutputs = []string{"alert", "error", "help", "results", "status-fd", "version"}

// TestOutputKinds compares the commands that have --json with the schemas.
func TestOutputKinds(t *testing.T) {
	t.Parallel()
	want := slices.Clone(otherOutputs)
	dirs, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		help, err := exec.Command(filepath.Join(built(t), name), "--help").Output()
		if err != nil {
			t.Fatalf("%s --help: %v", name, err)
		}
		standard := name == "dpl-trace" // OTLP
		if regexp.MustCompile(`\n +--json\b`).Match(help) && !standard {
			want = append(want, strings.TrimPrefix(name, "dpl-"))
		}
	}
	got := outputKinds(t)
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("spec/output has the schemas %v, want %v", got, want)
	}
}

// TestOutputPage compares the members in the schemas of outputs with those on the reference page. A
// member that refers to the schema of a file is described on the page of that.
func TestOutputPage(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, reference), "\n## JSON output\n")
	section, _, _ = strings.Cut(section, "\n## ")

	everywhere, of := make(map[string]bool), make(map[string]map[string]bool)
	quoted := regexp.MustCompile("`([a-z][A-Za-z0-9]*)`")
	link := regexp.MustCompile(`\(output/([a-z-]+)\.schema\.json\)`)
	for row := range strings.Lines(section) {
		cells := strings.Split(row, "|")
		if len(cells) < 4 {
			continue
		}
		kinds := link.FindAllStringSubmatch(cells[1], -1)
		for _, kind := range kinds {
			if of[kind[1]] == nil {
				of[kind[1]] = make(map[string]bool)
			}
			for _, word := range quoted.FindAllStringSubmatch(cells[2], -1) {
				of[kind[1]][word[1]] = true
			}
		}
		for _, word := range quoted.FindAllStringSubmatch(cells[1], -1) {
			everywhere[word[1]] = everywhere[word[1]] || len(kinds) == 0
		}
	}

	all := make(map[string]bool)
	for _, kind := range outputKinds(t) {
		own, words := make(map[string]bool), make(map[string]bool)
		for _, name := range []string{kind, "results"} {
			collect(t, schemaOf(t, "output/"+name), own, words, name == kind)
		}
		maps.Copy(all, words)
		if of[kind] == nil {
			t.Errorf("%s has no row for %s", reference, kind)
		}
		for name := range own {
			if name != "schemaVersion" && !everywhere[name] && !of[kind][name] {
				t.Errorf("%s: %s is not in its row, nor among the members of all", kind, name)
			}
		}
		for name := range of[kind] {
			if !words[name] {
				t.Errorf("%s: its row names %s, which is no member or value in the schema", kind, name)
			}
		}
	}
	for name := range everywhere {
		if name != "member" && everywhere[name] && !all[name] {
			t.Errorf("%s describes %s, which is in no schema", reference, name)
		}
	}
}

func schemaOf(t *testing.T, name string) (schema any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "spec/"+name+".schema.json")), &schema); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return schema
}

// collect adds the members that schema describes to own, and all members and values that it names to
// words.
func collect(t *testing.T, schema any, own, words map[string]bool, mine bool) {
	switch schema := schema.(type) {
	case []any:
		for _, s := range schema {
			collect(t, s, own, words, mine)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, s := range properties {
			words[name] = true
			text, _ := json.Marshal(s)
			if mine && !strings.Contains(string(text), `"../`) {
				own[name] = true
			}
		}
		values, _ := schema["enum"].([]any)
		for _, v := range append(values, schema["const"]) {
			if word, is := v.(string); is {
				words[word] = true
			}
		}
		for _, s := range schema {
			collect(t, s, own, words, mine)
		}
	}
}
