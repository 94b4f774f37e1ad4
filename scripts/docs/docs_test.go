//go:build unix

package main

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

const root = "../.."

// docs is what the tests look at: the commands, and what is made of them.
type docs struct {
	bin, share string
	generator  generator
	files      map[string]string
}

func TestMain(m *testing.M) {
	os.Exit(programs.Run(m, "fish", "grops", "groff", "grotty", "jq", "man", "mandoc", "python3",
		"tbl", "troff", "zsh"))
}

// TestDocs makes all files from the real commands, and tries them.
func TestDocs(t *testing.T) {
	d := &docs{bin: build.Commands(t, root), share: t.TempDir()}
	commands, err := load(d.bin, root)
	if err != nil {
		t.Fatal(err)
	}

	umbrella, err := os.OpenFile(filepath.Join(d.bin, "dpl"), os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}

	umbrella.Close()
	d.generator = generator{commands: commands, umbrella: true,
		day: time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC), version: "v1.2.3"}
	if d.files, err = d.generator.all(); err != nil {
		t.Fatal(err)
	}

	t.Setenv("SOURCE_DATE_EPOCH", "1768867200") // that day
	t.Chdir(root)
	if err := run(d.share, "", "v1.2.3", []string{d.bin}); err != nil {
		t.Fatal(err)
	}

	t.Run("same", d.same)
	t.Run("pages", d.pages)
	t.Run("html", d.html)
	t.Run("flags", d.flags)
	t.Run("synopsis", d.synopsis)
	t.Run("comments", d.comments)
	t.Run("statuses", d.statuses)
	t.Run("examples", d.examples)
	t.Run("ledger", d.ledger)
	t.Run("bash", func(t *testing.T) { d.complete(t, bash) })
	t.Run("zsh", func(t *testing.T) { d.complete(t, zsh) })
	t.Run("fish", func(t *testing.T) { d.complete(t, fish) })
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		strict.Program(t, p)
	}
}

// same checks that making the pages twice gives the same, in memory and on disk.
func (d *docs) same(t *testing.T) {
	var found []string
	err := filepath.WalkDir(d.share, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		text, err := os.ReadFile(path)
		name := strings.TrimPrefix(path, d.share+"/")
		if want, made := d.files[name]; !made || want != string(text) {
			t.Errorf("%s: %d bytes, the other time %d", name, len(text), len(want))
		}

		found = append(found, name)
		return err
	})

	if err != nil || len(found) != len(d.files) {
		t.Errorf("%v: got %d files, want %d", err, len(found), len(d.files))
	}

	for _, name := range []string{"man/man1/dpl-push.1", "man/man1/dpl.1", "man/man5/dpl-ledger.5",
		"man/man7/dpl.7", "doc/dpl/html/index.html", "bash-completion/completions/dpl-push",
		"zsh/site-functions/_dpl", "fish/vendor_completions.d/dpl-push.fish"} {
		if !slices.Contains(found, name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// pages: they render without a warning, and in 80 columns.
func (d *docs) pages(t *testing.T) {
	needs(t, "man", "groff", "mandoc")
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !strings.HasPrefix(name, "man/") {
			continue
		}

		path := filepath.Join(d.share, name)
		if strings.Contains(d.files[name], "@") {
			t.Errorf("%s: something is not filled in", name)
		}

		for _, columns := range []string{"60", "80"} {
			cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-P", "cat",
				path)
			cmd.Env = append(os.Environ(), "MANWIDTH="+columns)
			var warnings strings.Builder
			cmd.Stderr = &warnings
			out, err := cmd.Output()
			if err != nil || warnings.Len() > 0 {
				t.Errorf("%s, %s columns: %v\n%s", name, columns, err, &warnings)
			}
			if long := regexp.MustCompile(`(?m)^.{81,}$`).FindString(overstrike.ReplaceAllString(string(out), "")); long != "" && columns == "80" {
				t.Errorf("%s: longer than 80 columns: %s", name, long)
			}
		}

		if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning",
			path).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// overstrike matches how a terminal shows bold and italics.
var overstrike = regexp.MustCompile(".\b|\x1b\\[[0-9;]*m")

var helpFlag = regexp.MustCompile(`(?m)^  (?:-(.), |    )?--([a-z-]+)`)

// flags: whatever --help has is in the page and in the completions of all shells.
func (d *docs) flags(t *testing.T) {
	for _, c := range d.generator.commands {
		help, err := exec.Command(filepath.Join(d.bin, c.Program), "--help").Output()
		if err != nil {
			t.Fatal(err)
		}

		part := func(file, begin, end string) string {
			_, rest, _ := strings.Cut(d.files[file], begin)
			text, _, found := strings.Cut(rest, end)
			if !found {
				t.Errorf("%s: no %q", file, begin)
			}
			return text
		}

		page := part("man/man1/"+c.Program+".1", ".SH OPTIONS", ".SH ENVIRONMENT")
		inBash := part("bash-completion/completions/dpl", "\t"+c.Program+")\n", "'\n") + " "
		inBash = strings.ReplaceAll(strings.ReplaceAll(inBash, "'", " "), "\n", " ")
		inZsh := part("zsh/site-functions/_dpl", "\t"+c.Program+")\n", ";;")
		inFish := d.files["fish/vendor_completions.d/"+c.Program+".fish"]
		all := helpFlag.FindAllStringSubmatch(string(help), -1)
		if len(all) < 10 || len(all) != len(c.Flags) {
			t.Errorf("%s: --help has %d flags, --help --json %d", c.Program, len(all), len(c.Flags))
		}

		for _, m := range all {
			short, name := m[1], m[2]
			for where, has := range map[string]bool{
				"page": regexp.MustCompile(`(?m)^(\\fB\\-.\\fR, )?` +
					regexp.QuoteMeta(bold("--"+name)) + `( |$)`).MatchString(page),
				"bash": strings.Contains(inBash, " --"+name+" "),
				"zsh": regexp.MustCompile(`'\*?--` + name + `[=\[]|,--` + name +
					`\}`).MatchString(inZsh),
				"fish": regexp.MustCompile(` -l ` + name + `\s`).MatchString(inFish),
			} {
				if !has {
					t.Errorf("%s --%s: not in %s", c.Program, name, where)
				}
			}

			if short != "" && (!strings.Contains(page, `\fB\-`+short) ||
				!strings.Contains(inBash, " -"+short+" ")) {
				t.Errorf("%s -%s: not in the page or in bash", c.Program, short)
			}
		}
	}
}

// synopsis: it shows no flag that there is not.
func (d *docs) synopsis(t *testing.T) {
	for _, c := range d.generator.commands {
		for _, line := range c.Usage {
			for _, flag := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(line,
				-1) {
				if !slices.ContainsFunc(c.Flags,
					func(f flagModel) bool { return f.Name == flag[1] }) {
					t.Errorf("%s %s: it has no --%s", c.Program, line, flag[1])
				}
			}
		}
	}
}

// comments: the comment of each program has its usage, in which a line may go on in the next one.
func (d *docs) comments(t *testing.T) {
	for _, c := range d.generator.commands {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("cmd", c.Program, "main.go"),
			nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}

		var got []string
		for line := range strings.Lines(file.Doc.Text()) {
			if indented := strings.HasPrefix(line, "\t"); indented {
				got = append(got, strings.Fields(line)...)
			}
		}
		want := strings.Fields(c.Program + " " + strings.Join(c.Usage, "\n"+c.Program+" "))
		if !slices.Equal(got, want) {
			t.Errorf("cmd/%s: its comment has the usage\n%q, want\n%q", c.Program, got, want)
		}
	}
}

// statuses: those of spec/reference.md are the same, and the spec has no others.
func (d *docs) statuses(t *testing.T) {
	reference, err := os.ReadFile("spec/reference.md")
	if err != nil {
		t.Fatal(err)
	}

	_, table, _ := strings.Cut(string(reference), "| exit status |")
	var got, want []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d[\d, ]*) \|`).FindAllStringSubmatch(table,
		-1) {
		want = append(want, strings.Split(m[1], ", ")...)
	}

	for _, s := range exitStatuses(d.generator.commands) {
		got = append(got, s.Status)
	}

	slices.Sort(got)
	if slices.Sort(want); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("got statuses %q, spec/reference.md has %q", got, want)
	}

	for _, page := range []string{"protocol", "groups"} {
		spec, err := os.ReadFile("spec/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}

		_, table, found := strings.Cut(string(spec), "| status | ")
		table, _, _ = strings.Cut(table, "\n\n")
		for _, m := range regexp.MustCompile(`(?m)^\| (\d[\d, ]*) \|`).FindAllStringSubmatch(table,
			-1) {
			for _, number := range strings.Split(m[1], ", ") {
				if !slices.Contains(got, number) {
					t.Errorf("%s.md has the status %s, which no command has", page, number)
				}
			}
		}

		if !found {
			t.Errorf("%s.md has no table of statuses", page)
		}
	}
}
