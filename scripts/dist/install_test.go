package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// places says which files of the sources, and of what make has built, go where below PREFIX.
var places = []struct{ from, to string }{
	{"bin/share/man/man1/*", "share/man/man1"},
	{"bin/share/man/man5/*", "share/man/man5"},
	{"bin/share/man/man7/*", "share/man/man7"},
	{"bin/share/bash-completion/completions/*", "share/bash-completion/completions"},
	{"bin/share/zsh/site-functions/*", "share/zsh/site-functions"},
	{"bin/share/fish/vendor_completions.d/*", "share/fish/vendor_completions.d"},
	{"scripts/dpl.*", "share/dpl"},
	{"scripts/clients/dpl.*", "share/dpl"},
	{"scripts/examples/*.*", "share/dpl/examples"},
	{"scripts/examples/agents/*", "share/dpl/examples/agents"},
	{"scripts/examples/operator/*", "share/dpl/examples/operator"},
	{"scripts/cron/crontab", "share/dpl/cron"},
	{"spec/*.schema.json", "share/dpl/schemas"},
	{"spec/output/*.schema.json", "share/dpl/schemas/output"},
	{"README.md", "share/doc/dpl"},
	{"CHANGELOG.md", "share/doc/dpl"},
	{"LICENSE", "share/doc/dpl"},
	{"spec/*.md", "share/doc/dpl/spec"},
	{"spec/pictures/*.svg", "share/doc/dpl/spec/pictures"},
	{"bin/share/doc/dpl/html/*", "share/doc/dpl/html"},
	{"scripts/systemd/system/*", "lib/systemd/system"},
	{"scripts/systemd/user/*", "share/systemd/user"},
}

// installed returns the expected files below PREFIX, sorted, after make install in the directory
// clone.
func installed(t *testing.T, clone string) []string {
	t.Helper()
	want := []string{manifest}
	for _, command := range commands(t) {
		want = append(want, "bin/"+command)
	}

	for _, place := range places {
		names, err := filepath.Glob(filepath.Join(clone, place.from))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			t.Errorf("%s: no such files", place.from)
		}

		for _, name := range names {
			want = append(want, place.to+"/"+filepath.Base(name))
		}
	}

	slices.Sort(want)
	return want
}

// below returns the paths of the files below dir, sorted, and of empty directories, with a slash.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		relative, _ := filepath.Rel(dir, name)
		if err == nil && d.IsDir() {
			var inside []fs.DirEntry
			if inside, err = os.ReadDir(name); len(inside) > 0 {
				return err
			}
			relative += "/"
		}

		all = append(all, filepath.ToSlash(relative))
		return err
	})

	if err != nil {
		t.Fatal(err)
	}

	slices.Sort(all)
	return all
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is missing", what, name)
		}
	}

	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s: %s is too much", what, name)
		}
	}
}

// build returns a clone in which make install has built all.
func build(t *testing.T) string {
	t.Helper()
	dir, stage := clone(t, repository(t), "dpl"), t.TempDir()
	cmd := exec.Command("make", "install", "DESTDIR="+stage)
	cmd.Dir = dir
	cmd.Env = stranger(t)
	output(t, cmd)
	same(t, "make install", below(t, filepath.Join(stage, "usr/local")), installed(t, dir))

	return dir
}

// run returns a command in a directory where everything is built, for a user with a strict umask
// and without go, as with sudo.
func run(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `umask 077; exec "$@"`, "sh"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + withoutGo(t), "HOME=" + t.TempDir()}
	return cmd
}

// withoutGo returns a directory for PATH with the programs that installing needs.
func withoutGo(t *testing.T) string {
	t.Helper()
	dir := readable(t)
	for _, name := range []string{"cat", "git", "grep", "head", "install", "ln", "make", "mktemp",
		"mv", "readlink",
		"rm", "rmdir", "sed", "sh", "sort"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

func text(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestInstall installs to several prefixes, over what is there, as several users, and uninstalls.
func TestInstall(t *testing.T) {
	t.Parallel()
	source := build(t)
	t.Run("files", func(t *testing.T) { installFiles(t, source) })
	t.Run("prefix", func(t *testing.T) { installPrefix(t, source) })
	t.Run("home", func(t *testing.T) { installHome(t, source) })
	t.Run("again", func(t *testing.T) { installAgain(t, source) })
	t.Run("refused", func(t *testing.T) { installRefused(t, source) })
}

// installFiles checks the default places of installed files, and that everyone may use them in
// spite of the umask. Uninstalling leaves older files, and files of others.
func installFiles(t *testing.T, source string) {
	stage := t.TempDir()
	prefix := filepath.Join(stage, "usr/local")
	if err := os.MkdirAll(filepath.Join(prefix, "share/man/man1"), 0o755); err != nil {
		t.Fatal(err)
	}

	output(t, run(t, source, "make", "install", "DESTDIR="+stage))
	want := installed(t, source)
	same(t, "make install", slices.DeleteFunc(below(t, prefix), isDirectory), want)
	same(t, manifest, slices.DeleteFunc(strings.Fields(text(t, prefix, manifest)), isDirectory),
		want)

	for _, name := range want {
		mode := fs.FileMode(0o644)
		if path.Dir(name) == "bin" || strings.HasPrefix(text(t, prefix, name), "#!") {
			mode = 0o755
		}
		hasMode(t, filepath.Join(prefix, name), mode)
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			hasMode(t, filepath.Join(prefix, dir), fs.ModeDir|0o755)
		}
	}

	if err := os.WriteFile(filepath.Join(prefix, "share/dpl/mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	output(t, run(t, source, "make", "uninstall", "DESTDIR="+stage))
	same(t, "make uninstall", below(t, prefix), []string{"share/dpl/mine", "share/man/man1/"})
}

func isDirectory(name string) bool { return strings.HasSuffix(name, "/") }

func hasMode(t *testing.T, name string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(name); err != nil || info.Mode() != want {
		t.Errorf("%s: %v, %v, want %v", name, info, err, want)
	}
}

var command = regexp.MustCompile(`(?m)^ExecStart=(\S+)`)

// installPrefix has the units and the crontab find the commands where they are.
func installPrefix(t *testing.T, source string) {
	stage := t.TempDir()
	for prefix, search := range map[string]string{
		"/usr":         "PATH=/usr/bin:/bin",
		"/usr/local":   "PATH=/usr/local/bin:/usr/bin:/bin",
		"/opt/dpl,ü~1": "PATH=/opt/dpl,ü~1/bin:/usr/bin:/bin",
	} {
		output(t, run(t, source, "make", "install", "DESTDIR="+stage, "PREFIX="+prefix))
		for _, dir := range []string{"lib/systemd/system", "share/systemd/user"} {
			units, err := filepath.Glob(filepath.Join(stage, prefix, dir, "*.service"))
			if err != nil || len(units) == 0 {
				t.Fatalf("%s: units: %q, %v", dir, units, err)
			}

			for _, unit := range units {
				for _, start := range command.FindAllStringSubmatch(text(t, unit), -1) {
					hasMode(t, filepath.Join(stage, start[1]), 0o755)
					if path.Dir(start[1]) != prefix+"/bin" {
						t.Errorf("%s: %s, want a command in %s/bin", unit, start[0], prefix)
					}
				}
			}
		}

		crontab := text(t, stage, prefix, "share/dpl/cron/crontab")
		if !strings.Contains(crontab, "\n"+search+"\n") ||
			!strings.Contains(crontab, " "+prefix+"/share/dpl/cron/crontab;") {
			t.Errorf("PREFIX=%s: want %s and the crontab's own path in\n%s", prefix, search,
				crontab)
		}
	}
}

// installAgain installs over an installation that had another file, which goes.
func installAgain(t *testing.T, source string) {
	stage := t.TempDir()
	prefix := filepath.Join(stage, "usr/local")
	output(t, run(t, source, "make", "install", "DESTDIR="+stage))
	first := below(t, prefix)
	old := filepath.Join(prefix, "bin/dpl-old")
	if err := os.WriteFile(old, nil, 0o755); err != nil {
		t.Fatal(err)
	}

	list := "bin/dpl-old\n" + text(t, prefix, manifest)
	if err := os.WriteFile(filepath.Join(prefix, manifest), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}

	output(t, run(t, source, "make", "install", "DESTDIR="+stage))
	same(t, "the second make install", below(t, prefix), first)
	output(t, run(t, source, "make", "uninstall", "DESTDIR="+stage))
	same(t, "make uninstall", below(t, prefix), []string{"./"})
}

// installRefused tries places that installing and uninstalling must refuse. Nothing is created or
// removed.
func installRefused(t *testing.T, source string) {
	stage := t.TempDir()
	for prefix, want := range map[string]string{
		"~/.local":    "not an absolute path",
		"/opt/my dpl": "units or the crontab cannot hold",
		"/opt/50%":    "units or the crontab cannot hold",
	} {
		out, err := run(t, source, "make", "install", "DESTDIR="+stage,
			"PREFIX="+prefix).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("PREFIX=%s: %v, want an error with %q\n%s", prefix, err, want, out)
		}
	}

	out, err := run(t, source, "make", "uninstall", "DESTDIR="+stage).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "make install has not been run") {
		t.Errorf("make uninstall of nothing: %v\n%s", err, out)
	}

	same(t, "refused", below(t, stage), []string{"./"})
}

// TestGoInstall installs with go install; the version is that of the module.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	source := clone(t, repository(t), "dpl")
	git(t, source, "tag", "v1.2.3")
	bin := t.TempDir()
	cmd := exec.Command("go", "install", "./cmd/...")
	cmd.Dir = source
	cmd.Env = stranger(t, "GOBIN="+bin, "GOFLAGS=-trimpath", "CGO_ENABLED=0") // as what is in the cache already
	output(t, cmd)
	want := commands(t)
	same(t, "go install", below(t, bin), want)
	said, err := exec.Command(filepath.Join(bin, "dpl"), "links").CombinedOutput()
	if err != nil || strings.Count(string(said), "\n") != 1 ||
		!strings.Contains(string(said), "because they are commands of this version: ") {
		t.Errorf("dpl links: %v\n%s", err, said)
	}
	same(t, "dpl links", below(t, bin), want)

	// The three programs that the README names are enough.
	few := t.TempDir()
	cmd = exec.Command("go", "install", "./cmd/dpl", "./cmd/dpl-check", "./cmd/dpl-status")
	cmd.Dir = source
	cmd.Env = stranger(t, "GOBIN="+few, "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	output(t, cmd)
	if said := output(t, exec.Command(filepath.Join(few, "dpl"), "links")); said != "" {
		t.Errorf("dpl links prints %q", said)
	}
	same(t, "dpl links", below(t, few), want)

	for _, name := range want {
		if got := output(t, exec.Command(filepath.Join(bin, name),
			"--version")); !strings.HasPrefix(got, name+" v1.2.3 (commit ") {
			t.Errorf("%s --version: %q", name, got)
		}
	}
}
