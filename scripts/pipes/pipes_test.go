//go:build linux

package pipes

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// root is the module.
const root = "../.."

// atOnce is how many trials run at once. Nearly all of them wait.
const atOnce = 16

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
	if os.Getenv("DPL_SOAK") != "" {
		return 3000
	}
	return 64
}

// seed returns $DPL_SEED, or a new one, and logs it.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := rand.Uint64() >> 1
	if given := os.Getenv("DPL_SEED"); given != "" {
		var err error
		if n, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("DPL_SEED: %v", err)
		}
	}
	t.Logf("DPL_SEED=%d", n)
	return n
}

// plans returns the plans of n trials, or the one of $DPL_TRIAL.
func plans(t testing.TB, bin string, n int) (all []plan) {
	t.Helper()
	seed, kinds := seed(t), slices.DeleteFunc(variants(), func(v variant) bool {
		_, err := exec.LookPath(v.shell)
		return err != nil || v.shape == toFile && !hasTo(bin)
	})
	for i := range n {
		all = append(all, newPlan(seed, i, kinds[i%len(kinds)]))
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
	return strings.Contains(string(out), "--to ")
}

// all makes trials, several at a time. It stops when one of them reports that it is enough.
func all(t testing.TB, bin string, plans []plan, enough func(*trial) bool) (made []*trial) {
	t.Helper()
	todo := make(chan plan, len(plans))
	for _, p := range plans {
		todo <- p
	}
	close(todo)

	base := t.TempDir()
	var mu sync.Mutex
	var workers sync.WaitGroup
	over := false
	for range atOnce {
		workers.Go(func() {
			for p := range todo {
				mu.Lock()
				stop := over
				mu.Unlock()
				if stop {
					return
				}

				dir := filepath.Join(base, strconv.Itoa(p.number))
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Error(err)
					return
				}
				tried := try(p, bin, dir)
				if len(tried.problems) == 0 {
					os.RemoveAll(dir)
				}
				mu.Lock()
				made = append(made, tried)
				over = over || enough(tried)
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
			strict.Program(t, shell)
		}
	}

	bin := build.Commands(t, root)
	made := all(t, bin, plans(t, bin, size(t)), func(*trial) bool { return false })
	report(t, made)

	kinds := make(map[string]int)
	for _, tried := range made {
		for _, problem := range tried.problems {
			kind, _, _ := strings.Cut(problem, ":")
			if kinds[kind]++; kinds[kind] <= 5 {
				t.Errorf("%v: hit %v: out is %s, exit %d: %s\n%.600s", tried.plan, tried.hit, tried.out,
					tried.status, problem, tried.said)
			}
		}
	}
	for kind, n := range kinds {
		t.Logf("%d times: %s", n, kind)
	}
	if len(made) > 1000 && !slices.ContainsFunc(made, func(t *trial) bool {
		return t.unkept() && t.out == truncated
	}) {
		t.Error("no trial has shown the exception: the times are badly chosen")
	}
}
