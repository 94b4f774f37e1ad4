package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

const root = "../.."

// committed is the day of the commit of a repository, which mdoc writes as committedInWords.
const (
	committed        = "2026-01-02"
	committedInWords = "January 2, 2026"
)

// repository creates a repository with one commit, of a known time, of the current sources. It
// reads them all, so go test runs again if one changes.
func repository(t *testing.T) string {
	t.Helper()
	strict.Program(t, "git")
	strict.Program(t, "make")
	to := filepath.Join(readable(t), "repository")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another test's, in passing
			return nil
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || d.Name() == "__pycache__"):
			return fs.SkipDir
		case name == ".git": // of a worktree
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}

		return duplicate(filepath.Join(to, name), path)
	})

	if err != nil {
		t.Fatal(err)
	}

	git(t, to, "init", "-q")
	git(t, to, "add", "-A")
	git(t, to, "commit", "-qm", "All")

	return to
}

func duplicate(to, from string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm()|0o644)
}

// clone returns a fresh clone of a repository.
func clone(t *testing.T, repository, name string) string {
	t.Helper()
	to := filepath.Join(readable(t), name)
	git(t, ".", "clone", "-q", repository, to)
	return to
}

// readable returns a new directory that everyone may read.
func readable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE="+committed+"T03:04:05Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE="+committed+"T03:04:05Z")
	output(t, cmd)
}

// output runs cmd, which must succeed, and returns its output.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// stranger is the environment of a user with an empty home, who has set more than go needs.
func stranger(t *testing.T, more ...string) []string {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"}
	values := strings.Split(output(t, exec.Command("go", append([]string{"env"}, names...)...)),
		"\n")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for i, name := range names {
		env = append(env, name+"="+values[i])
	}
	return append(env, more...)
}

// commands returns the names of the commands, sorted.
func commands(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join(root, "cmd/dpl*/"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("commands: %q, %v", mains, err)
	}

	for i := range mains {
		mains[i] = filepath.Base(mains[i])
	}

	slices.Sort(mains)
	return mains
}
