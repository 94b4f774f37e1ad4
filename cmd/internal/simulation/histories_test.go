package simulation

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// history plays the history of one seed and returns what was wrong.
func (w *world) history(seed uint64, kinds []kind, b bug) error {
	w.begin(seed, b)
	k := kinds[w.r.IntN(len(kinds))]
	w.stats.histories++
	w.stats.kinds[k.name]++
	k.setUp(w)
	w.play()
	if w.wrong == nil {
		w.end()
	}

	w.everybodyEnds()
	w.stats.calls += w.steps

	return w.wrong
}

func newStats() *stats { return &stats{kinds: map[string]int{}} }

// amount is the number of histories to play, or the time for playing, and the seed before the
// first. For a time the histories are the same in each run.
type amount struct {
	time   time.Duration
	number uint64
	after  uint64
}

func histories(t *testing.T) amount {
	text := os.Getenv("DPL_HISTORIES")
	if text == "" {
		return amount{time: 10 * time.Second}
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil { // a given number means new ones each time
		return amount{number: n, after: uint64(time.Now().Unix()) << 24}
	}

	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("DPL_HISTORIES=%q: want a number or a duration", text)
	}
	return amount{time: d}
}

func seedToReplay(t *testing.T) (seed uint64, given bool) {
	text := os.Getenv("DPL_SEED")
	if text == "" {
		return 0, false
	}

	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("DPL_SEED=%q: want a number", text)
	}
	return seed, true
}

// TestMain lets garbage pile up: histories make much of it, and need little memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}

// TestHistories plays histories on all processors until one breaks a promise. Its seed replays it.
func TestHistories(t *testing.T) {
	if seed, given := seedToReplay(t); given {
		replay(t, seed)
		return
	}

	began, busy := time.Now(), cpuTime()
	all, failed := play(histories(t), kinds, noBug)
	took := time.Since(began)
	busy = cpuTime() - busy
	t.Logf("%v, %.0f histories/s on %d processors, %.0f for each second that one of them was "+
		"ours\n%v", took.Round(time.Millisecond),
		float64(all.histories)/took.Seconds(), runtime.GOMAXPROCS(0), float64(all.histories)/busy.Seconds(), all)
	if failed != nil {
		t.Fatal(failed)
	}
	if missing := all.missing(); len(missing) > 0 {
		t.Errorf("never happened: %q", missing)
	}
}

// A seed that found something has to find it again.
func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	random := regexp.MustCompile(`[0-9a-f]{16}`)
	told := func(seed uint64) []string {
		var lines []string
		w := newWorld(newStats())
		defer w.close()
		w.print = func(format string, args ...any) {
			lines = append(lines, random.ReplaceAllString(fmt.Sprintf(format, args...), "*"))
		}
		w.history(seed, kinds, noBug)
		return lines
	}

	for seed := range uint64(12) {
		first, second := told(seed), told(seed)
		for i, line := range first {
			if i >= len(second) || line != second[i] {
				t.Fatalf("seed %d, line %d: first %q, then %q", seed, i, line,
					second[min(i, len(second)-1)])
			}
		}
	}
}

func replay(t *testing.T, seed uint64) {
	w := newWorld(newStats())
	w.print = func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if err := w.history(seed, kinds, noBug); err != nil {
		t.Error(err)
	}
}

// play plays histories of some kinds until there are enough or one fails.
func play(n amount, kinds []kind, b bug) (*stats, error) {
	var next atomic.Uint64
	var stop atomic.Bool
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	began, all, end := time.Now(), newStats(), time.Now().Add(n.time)

	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			w := newWorld(newStats())
			defer w.close()

			for !stop.Load() {
				count := next.Add(1)
				if n.number > 0 && count > n.number || n.number == 0 && time.Now().After(end) {
					break
				}
				if count%1_000_000 == 0 { // for who waits for an hour
					fmt.Fprintf(os.Stderr, "%d histories in %v\n", count,
						time.Since(began).Round(time.Second))
				}

				seed := n.after + count
				if err := w.history(seed, kinds, b); err != nil {
					stop.Store(true)
					mu.Lock()
					failed = fmt.Errorf("DPL_SEED=%d: %s: %w", seed, w.kind.name, err)
					mu.Unlock()
				}
			}

			mu.Lock()
			all.add(w.stats)
			mu.Unlock()
		})
	}

	wg.Wait()

	return all, failed
}
