//go:build unix

package start

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/group/policy"
)

// An environment file is read only if no other user could have written it.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("A=file\nPATH=/file\n"), 0o600))
		must(t, os.Chmod(path, mode))
		return path
	}
	chmod := func(name string, mode os.FileMode) { must(t, os.Chmod(filepath.Join(dir, name), mode)) }

	write("a", 0o644)
	write("group/a", 0o600)
	chmod("group", 0o775)
	write("all/a", 0o600)
	chmod("all", 0o777)
	write("all/below/a", 0o600)
	write("sticky/a", 0o600)
	chmod("sticky", 0o777|os.ModeSticky)
	write("forGroup", 0o664)
	write("forAll", 0o602)
	for link, to := range map[string]string{
		"relative": "group/../a", "absolute": filepath.Join(dir, "a"), "chain": "relative",
		"dangling": "none", "loop": "loop", "dirs": "sticky", "intoAll": "all/below",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	write("many", 0o600)
	must(t, os.Truncate(filepath.Join(dir, "many"), mostEnvironment+1))

	const never, later = policy.Terminal, policy.Tempfail
	for name, want := range map[string]policy.Class{
		"a": "", "./group//a": "", "sticky/a": "", "relative": "", "absolute": "", "chain": "",
		"dirs/a": "", "dirs/../a": "",
		"all/a": never, "all/below/a": never, "intoAll/a": never, "forGroup": never,
		"forAll": never, "group": never, "many": never,
		"none": later, "none/a": later, "dangling": later, "loop": later, "a/b": later,
	} {
		path := dir + "/" + name
		env, err := Environment([]string{"A=own", "PATH=/recorded", "B=own"}, path)
		if Class(err) != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v, want the class %q", name, err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), `environment file "`+path+`": `) {
			t.Errorf("%s: %v, want its path in front", name, err)
		}
		if err == nil && !slices.Equal(env, []string{"A=own", "PATH=/file", "B=own"}) {
			t.Errorf("%s: got %q", name, env)
		}
	}

	own := []string{"A=own"}
	if env, err := Environment(own, ""); err != nil || !slices.Equal(env, own) {
		t.Errorf("without a file: %q, %v", env, err)
	}
}

// A file, a directory and a link that belong to another user are not trusted.
func TestEnvironmentOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for _, name := range []string{"own", "file", "dir/file"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("A=b"), 0o600))
	}
	must(t, os.Symlink("own", filepath.Join(dir, "link")))
	for _, name := range []string{"file", "dir", "link"} {
		must(t, os.Lchown(filepath.Join(dir, name), 1, 1))
	}

	for _, name := range []string{"file", "dir/file", "link"} {
		_, err := Environment(nil, filepath.Join(dir, name))
		if Class(err) != policy.Terminal || !strings.Contains(err.Error(), " belongs to ") {
			t.Errorf("%s: %v, want the owner", name, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
