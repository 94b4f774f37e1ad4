//go:build linux

package pipes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/rig"
)

// root is the module.
const root = "../.."

// atOnce is how many trials run at once. Nearly all of them wait.
const atOnce = 16

// large is the size from which trials may last for a minute, and everything must have happened.
const large = 1000

func TestMain(m *testing.M) { os.Exit(programs.Run(m, "busybox", "mksh", "zsh")) }

// size returns how many trials to make.
func size(t testing.TB) int {
	t.Helper()
	if given := os.Getenv("DPL_PIPES"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil {
			t.Fatalf("DPL_PIPES: %v", err)
		}
		return n
	}
	if rig.Soak() {
		return 3000
	}
	return 64
}

// plans returns the plans of n trials, or the one of $DPL_TRIAL.
func plans(t testing.TB, bin string, n int) (all []plan) {
	t.Helper()
	seed, kinds := rig.Seed(t), slices.DeleteFunc(variants(), func(v variant) bool {
		_, err := exec.LookPath(v.shell)
		return err != nil || v.shape == toFile && !hasTo(bin)
	})
	for i := range n {
		p := newPlan(seed, i, kinds[i%len(kinds)])
		if n < large {
			p = p.quick()
		}
		all = append(all, p)
	}

	if only := os.Getenv("DPL_TRIAL"); only != "" {
		i, err := strconv.Atoi(only)
		if err != nil || i < 0 || i >= n {
			t.Fatalf("DPL_TRIAL=%s is not one of %d", only, n)
		}
		return all[i : i+1]
	}
	return all
}

// hasTo reports whether dpl-run has --to.
func hasTo(bin string) bool {
	out, _ := exec.Command(filepath.Join(bin, "dpl-run"), "--help").CombinedOutput()
	return strings.Contains(string(out), "--to=")
}

// all makes trials, several at a time, and returns them in the order in which they ended.
func all(t testing.TB, bin string, plans []plan) (made []*trial) {
	t.Helper()
	todo := make(chan plan, len(plans))
	for _, p := range plans {
		todo <- p
	}
	close(todo)

	base := t.TempDir()
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for p := range todo {
				dir := filepath.Join(base, strconv.Itoa(p.number))
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Error(err)
					return
				}
				tried := try(p, bin, dir)
				os.RemoveAll(dir)
				mu.Lock()
				made = append(made, tried)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return made
}

// TestPipes makes trials of all variants.
func TestPipes(t *testing.T) {
	for _, shell := range shells {
		if _, err := exec.LookPath(shell); err != nil && os.Getenv("STRICT") != "" {
			t.Errorf("%s is missing, and STRICT leaves nothing out", shell)
		}
	}

	bin := build.Commands(t, root)
	made := all(t, bin, plans(t, bin, size(t)))
	if i := slices.IndexFunc(made, (*trial).bad); i >= 0 {
		t.Logf("trial %d of %d is the first with a problem", i+1, len(made))
	}
	report(t, made)

	kinds := make(map[string]int)
	for _, tried := range made {
		for _, problem := range tried.problems {
			kind, _, _ := strings.Cut(problem, ":")
			if kinds[kind]++; kinds[kind] <= 5 {
				t.Errorf("%v: killed: %q: out is %s, exit %d: %s\n%.600s", tried.plan, tried.hit,
					tried.out, tried.status, problem, tried.said)
			}
		}
	}
	for kind, n := range kinds {
		t.Logf("%d times: %s", n, kind)
	}
	if len(made) >= large && !slices.ContainsFunc(made, func(t *trial) bool {
		return t.unkept() && t.out == truncated
	}) {
		t.Error("no trial has shown the exception: the times are badly chosen")
	}
}
