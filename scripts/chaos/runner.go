//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/dpl-project/dpl/scripts/upstream"
)

// A scenario does something hard to a world of its own.
type scenario struct {
	name  string
	needs []string // programs, root, or sources
	do    func(w *world)
}

var scenarios = []scenario{
	{"pushes of a crowd, killed", nil, pushes},
	{"calls of xargs", []string{"xargs", "seq"}, xargs},
	{"build, killed", []string{"make", "cc"}, builds},
	{"build of zlib, killed", []string{"make", "cc", upstream.Where}, zlib},
	{"jobserver", []string{"make"}, jobserver},
	{"death of a process group", nil, groupDeath},
	{"passes, killed", nil, passes},
	{"services", nil, services},
	{"damaged files", nil, damage},
	{"full disk", []string{"root", "unshare", "mount"}, fullDisk},
	{"namespaces", []string{"root", "unshare"}, namespaces},
	{"closed descriptors", nil, descriptors},
	{"limits", nil, limits},
	{"empty environment", nil, emptyEnvironment},
	{"cron as nobody", []string{"root"}, cronAsNobody},
	{"cron", []string{"root", "unshare", "mount", "cron", "crontab"}, realCron},
}

// A runner runs scenarios one after the other, as a seed says.
type runner struct {
	bin     string
	seed    uint64
	pattern *regexp.Regexp
	log     io.Writer
	counts  map[string]int
}

// run runs every scenario once, and then one at random after the other, until the time is over. It
// reports whether all held.
func (r *runner) run(ctx context.Context, length time.Duration) bool {
	fmt.Fprintf(r.log, "chaos: seed %d, for %v\n", r.seed, length)
	able := r.able()
	if len(able) == 0 {
		fmt.Fprintln(r.log, "chaos: no scenario can be run")
		return false
	}

	bin, err := r.ownCommands()
	if err != nil {
		fmt.Fprintln(r.log, "chaos:", err)
		return false
	}
	defer os.RemoveAll(bin)

	r.counts = make(map[string]int)
	choose := rand.New(rand.NewPCG(r.seed, 0))
	began := time.Now()

	for n := 0; ctx.Err() == nil && (n < len(able) || time.Since(began) < length); n++ {
		s := able[n%len(able)]
		if n >= len(able) {
			s = able[choose.IntN(len(able))]
		}

		if err := r.one(ctx, bin, s, uint64(n)+1); err != nil {
			fmt.Fprintf(r.log, "chaos: FAILED: %s: round %d of seed %d: %v\n", s.name, n+1, r.seed,
				err)
			return false
		}

		r.counts[s.name]++
	}

	for _, s := range able {
		fmt.Fprintf(r.log, "%5d  %s\n", r.counts[s.name], s.name)
	}

	fmt.Fprintf(r.log, "chaos: all held for %v, seed %d\n", time.Since(began).Round(time.Second),
		r.seed)

	return ctx.Err() == nil
}

// ownCommands returns a directory with copies of the commands: processes of these are of this run.
func (r *runner) ownCommands() (dir string, err error) {
	dir, err = os.MkdirTemp("", "dpl-chaos-bin-")
	if err != nil {
		return "", err
	}

	commands, err := filepath.Glob(filepath.Join(r.bin, "dpl*"))
	if err != nil {
		return "", err
	}
	if err := exec.Command("cp", append(commands, dir)...).Run(); err != nil {
		return "", fmt.Errorf("cannot copy the commands in %s: %w", r.bin, err)
	}
	return dir, os.Chmod(dir, 0o755) // for the user nobody
}

// able returns the scenarios that can be run here, and says which cannot.
func (r *runner) able() (able []scenario) {
	for _, s := range scenarios {
		if !r.pattern.MatchString(s.name) {
			continue
		}
		if missing := s.missing(); missing != "" {
			fmt.Fprintf(r.log, "chaos: left out: %s: needs %s\n", s.name, missing)
			continue
		}
		able = append(able, s)
	}

	return able
}

func (s scenario) missing() string {
	for _, what := range s.needs {
		if what == "root" {
			if os.Geteuid() != 0 {
				return what
			}
		} else if what == upstream.Where {
			if err := upstream.Available(); err != nil {
				return err.Error()
			}
		} else if _, err := exec.LookPath(what); err != nil {
			return what
		}
	}

	return ""
}

// one runs a scenario in a new directory, which is kept if something did not hold.
func (r *runner) one(ctx context.Context, bin string, s scenario, round uint64) (err error) {
	dir, err := os.MkdirTemp("", "dpl-chaos-")
	if err != nil {
		return err
	}

	w := newWorld(ctx, bin, dir, rand.New(rand.NewPCG(r.seed, round)))
	defer func() {
		var v violation
		if recovered, ok := recover().(violation); ok {
			v = recovered
		}

		w.killAll()
		if v != "" && ctx.Err() == nil {
			err = errors.New(string(v) + "\nin " + dir)
			return
		}

		os.RemoveAll(dir)
	}()

	s.do(w)
	w.settle()
	return nil
}
