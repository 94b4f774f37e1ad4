//go:build unix

package testscripts

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A requirement is a row of spec/systems.md.
type requirement struct{ id, asks, does, shown string }

// notOurs is what the last cell of a row says that only names what DPL leaves out.
const notOurs = "not ours"

// seeds has the number of requirements of each seed.
var seeds = []int{62, 27, 44, 71, 31}

// TestSystemsPage checks that spec/systems.md has each requirement once, in order, and that what it
// names exists: scripts, tests, vectors, paths, sections of the spec, commands and their flags.
func TestSystemsPage(t *testing.T) {
	t.Parallel()
	rows := requirements(t)
	i := 0
	for seed, n := range seeds {
		for k := 1; k <= n; k++ {
			want := fmt.Sprintf("R%03d-%02d", seed, k)
			if i >= len(rows) || rows[i].id != want {
				t.Fatalf("row %d: want %s", i+1, want)
			}
			i++
		}
	}
	if i != len(rows) {
		t.Fatalf("%s is one too many", rows[i].id)
	}

	p := &evidence{tests: testNames(t), sections: specSections(t), bin: built(t),
		helps: make(map[string]string)}
	for _, r := range rows {
		for _, problem := range p.problems(r) {
			t.Errorf("%s: %s", r.id, problem)
		}
	}
}

// requirements returns the rows of the page that have an id. Each must have four cells.
func requirements(t *testing.T) (all []requirement) {
	for line := range strings.Lines(read(t, "spec/systems.md")) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(cells[0], "R0") {
			continue
		}
		if len(cells) != 4 {
			t.Fatalf("%d cells, want 4: %s", len(cells), line)
		}
		all = append(all, requirement{cells[0], cells[1], cells[2], cells[3]})
	}
	return all
}

// evidence is what rows may name.
type evidence struct {
	tests    map[string][]string // folders by the name of a test in Go
	sections map[string]bool
	bin      string
	helps    map[string]string // by command
}

var (
	codeSpan    = regexp.MustCompile("`([^`]+)`")
	sectionMark = regexp.MustCompile(`§(\d+(?:\.\d+)?)`)
	commandSpan = regexp.MustCompile(`^(dpl-[a-z]+)((?: .*)?)$`)
	flagName    = regexp.MustCompile(`--[a-z][a-z-]*`)
	testName    = regexp.MustCompile(`^(?:(\S+) )?((?:Test|Fuzz)\w+)$`)
)

// problems returns what is wrong with a row.
func (p *evidence) problems(r requirement) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	rest := r.shown
	for _, span := range codeSpan.FindAllStringSubmatch(r.shown, -1) {
		rest = strings.Replace(rest, span[0], "", 1)
		if !p.shows(span[1]) {
			add("%q is neither a script nor a test, a vector or a path", span[1])
		}
	}

	if strings.Trim(rest, ", ") != "" && r.shown != notOurs || r.shown == "" {
		add("it is shown by %q: want code or %q", r.shown, notOurs)
	}

	for _, m := range sectionMark.FindAllStringSubmatch(r.does, -1) {
		if !p.sections[m[1]] {
			add("there is no §%s", m[1])
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(r.does, -1) {
		switch m := commandSpan.FindStringSubmatch(span[1]); {
		case m != nil:
			all = append(all, p.command(m[1], m[2])...)
		case strings.HasPrefix(span[1], "scripts/") && !exists(filepath.Join(root, span[1])):
			add("there is no %s", span[1])
		}
	}
	return all
}

// shows reports whether name is that of a script, of one test in Go, of a vector or of a path.
func (p *evidence) shows(name string) bool {
	if m := testName.FindStringSubmatch(name); m != nil {
		folders := p.tests[m[2]]
		for _, folder := range folders {
			if folder == m[1] {
				return true
			}
		}
		return m[1] == "" && len(folders) == 1
	}
	if vector, ok := strings.CutPrefix(name, "vectors/"); ok {
		return exists(filepath.Join(root, "spec/vectors", vector+".json"))
	}
	return exists(filepath.FromSlash(name)+".txtar") || exists(filepath.Join(root, name))
}

// command returns what is wrong with a command and its flags.
func (p *evidence) command(name, args string) (all []string) {
	help, known := p.helps[name]
	if !known {
		out, err := exec.Command(filepath.Join(p.bin, name), "--help").Output()
		if err != nil {
			return []string{fmt.Sprintf("%s: %v", name, err)}
		}
		help = string(out)
		p.helps[name] = help
	}

	for _, flag := range flagName.FindAllString(args, -1) {
		if !regexp.MustCompile(flag + `[^a-z-]`).MatchString(help) {
			all = append(all, fmt.Sprintf("%s has no %s", name, flag))
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// testNames returns the folders of all tests and fuzz targets in Go, from the root, by their names.
func testNames(t *testing.T) map[string][]string {
	all := make(map[string][]string)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		for _, m := range declared.FindAllSubmatch(text, -1) {
			all[string(m[1])] = append(all[string(m[1])], filepath.ToSlash(folder))
		}
		return err
	})
	if err != nil || len(all) < 300 {
		t.Fatalf("%d tests: %v", len(all), err)
	}
	return all
}

// specSections returns the numbers of the sections that continue over the pages of the spec, from
// protocol.md on. Other pages count from 1 by themselves.
func specSections(t *testing.T) map[string]bool {
	pages, err := filepath.Glob(filepath.Join(root, "spec", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}

	all := make(map[string]bool)
	heading := regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)?) `)
	for _, page := range pages {
		found := heading.FindAllStringSubmatch(read(t, "spec/"+filepath.Base(page)), -1)
		if len(found) == 0 || found[0][1] == "1" && filepath.Base(page) != "protocol.md" {
			continue
		}
		for _, m := range found {
			all[m[1]] = true
		}
	}
	return all
}
