package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/poll"
)

// A ledger is a directory with the files of one, and rename instead of edits.
type ledger struct {
	dir string
	fs  disk.FS
}

func testLedger(t *testing.T, fs disk.FS) *ledger {
	t.Helper()
	l := &ledger{dir: filepath.Join(t.TempDir(), "ledger"), fs: fs}
	for _, dir := range []string{l.operations(), filepath.Join(l.dir, "archive")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	return l
}

func (l *ledger) operations() string         { return filepath.Join(l.dir, "operations") }
func (l *ledger) operation(id string) string { return filepath.Join(l.operations(), id+".json") }
func (l *ledger) archived(id string) string  { return filepath.Join(l.dir, "archive", id+".json") }
func (l *ledger) registry(id string) string  { return filepath.Join(l.dir, id+".supervisors.json") }

// notify returns a Notifier that is not closed yet.
func (l *ledger) notify(operations, groups []string) *Notifier {
	var files []string
	for _, id := range operations {
		files = append(files, l.operation(id))
	}
	for _, id := range groups {
		files = append(files, l.registry(id))
	}
	return New(l.fs, files)
}

// polled is the operating system, but one that a Notifier does not know as such.
type polled struct{ disk.OS }

// eachWay runs test with ledgers whose changes the operating system reports, if it does, and with
// polled ledgers.
func eachWay(t *testing.T, test func(t *testing.T, l *ledger)) {
	for name, fs := range map[string]disk.FS{"told": disk.OS{}, "polled": polled{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, testLedger(t, fs))
		})
	}
}

func notify(t *testing.T, l *ledger, operations, groups []string) *Notifier {
	t.Helper()
	n := l.notify(operations, groups)
	t.Cleanup(func() { must(t, n.Close()) })
	return n
}

// mustTell waits for C.
func mustTell(t *testing.T, n *Notifier) {
	t.Helper()
	select {
	case <-n.C():
	case <-time.After(poll.Patience):
		t.Fatal("nothing was told")
	}
}

// await is the loop that a Notifier is for.
func await(t *testing.T, n *Notifier, done func() bool) {
	t.Helper()
	for n.Arm(); !done(); n.Arm() {
		mustTell(t, n)
	}
}

// replace renames a new file to path.
func replace(t *testing.T, path string) {
	t.Helper()
	f, err := os.CreateTemp(filepath.Dir(path), "temp")
	must(t, err)
	_, err = f.WriteString("{}")
	must(t, errors.Join(err, f.Close(), os.Rename(f.Name(), path)))
}

func revise(t *testing.T, l *ledger, id string) {
	t.Helper()
	replace(t, l.operation(id))
}

func reviseGroup(t *testing.T, l *ledger, id string) {
	t.Helper()
	replace(t, l.registry(id))
}

func expire(t *testing.T, l *ledger, id string) {
	t.Helper()
	must(t, disk.OS{}.Replace(l.operation(id), l.archived(id)))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	must(t, os.Remove(path))
}

func gone(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func moveFile(t *testing.T, old, new string) {
	t.Helper()
	must(t, os.Rename(old, new))
}

// opened opens a file until the test ends.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// There are the operations op and other, and the group g.
var changes = map[string]func(t *testing.T, l *ledger){
	"edit":              func(t *testing.T, l *ledger) { revise(t, l, "op") },
	"archive":           func(t *testing.T, l *ledger) { expire(t, l, "op") },
	"edit of a group":   func(t *testing.T, l *ledger) { reviseGroup(t, l, "g") },
	"operation appears": func(t *testing.T, l *ledger) { revise(t, l, "new") },
	"group appears":     func(t *testing.T, l *ledger) { reviseGroup(t, l, "new") },
	"file appears":      func(t *testing.T, l *ledger) { writeFile(t, l.operation("new"), "") },
	"link appears": func(t *testing.T,
		l *ledger) {
		must(t, os.Link(l.operation("other"), l.operation("new")))
	},
	"removed":          func(t *testing.T, l *ledger) { removeFile(t, l.operation("op")) },
	"registry removed": func(t *testing.T, l *ledger) { removeFile(t, l.registry("g")) },
	"moved away": func(t *testing.T,
		l *ledger) {
		moveFile(t, l.operation("op"), filepath.Join(l.dir, "mine"))
	},
	"replaced": func(t *testing.T,
		l *ledger) {
		moveFile(t, l.operation("other"), l.operation("op"))
	},
	"written in place": func(t *testing.T,
		l *ledger) {
		writeFile(t, l.operation("op"), "{}")
	},
	"registry in place": func(t *testing.T,
		l *ledger) {
		writeFile(t, l.registry("g"), "{}")
	},
	"cut": func(t *testing.T,
		l *ledger) {
		must(t, os.Truncate(l.operation("op"), 0))
	},
	"ledger moved": func(t *testing.T, l *ledger) { moveFile(t, l.dir, l.dir+".old") },
	"operations moved": func(t *testing.T,
		l *ledger) {
		moveFile(t, l.operations(), l.dir+".old")
	},
	"directory above moved": func(t *testing.T,
		l *ledger) {
		moveFile(t, filepath.Dir(l.dir), filepath.Dir(l.dir)+".old")
	},
	"ledger removed": func(t *testing.T, l *ledger) { must(t, os.RemoveAll(l.dir)) },
	"archived under two names": func(t *testing.T, l *ledger) {
		must(t, errors.Join(os.Link(l.operation("op"), l.archived("op")),
			os.Remove(l.operation("op"))))
	},
	"edited while open": func(t *testing.T, l *ledger) {
		opened(t, l.operation("op"))
		revise(t, l, "op")
	},
	"removed while open": func(t *testing.T, l *ledger) {
		opened(t, l.operation("op"))
		removeFile(t, l.operation("op"))
	},
	"written, not closed": func(t *testing.T, l *ledger) {
		_, err := opened(t, l.operation("op")).WriteString("{}")
		must(t, err)
	},
	"edited, with another name": func(t *testing.T, l *ledger) {
		must(t, os.Link(l.operation("op"), l.operation("op")+".bak"))
		revise(t, l, "op")
	},
	"removed, with another name": func(t *testing.T, l *ledger) {
		must(t, os.Link(l.operation("op"), l.operation("op")+".bak"))
		removeFile(t, l.operation("op"))
	},
	"replaced by a link": func(t *testing.T, l *ledger) {
		must(t, os.Symlink("other.json", l.operation("op")+".new"))
		moveFile(t, l.operation("op")+".new", l.operation("op"))
	},
}

func TestNotifyTellsOfChanges(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, l *ledger) {
				revise(t, l, "op")
				revise(t, l, "other")
				reviseGroup(t, l, "g")
				n := notify(t, l, []string{"op", "new"}, []string{"g", "new"})
				n.Arm()
				change(t, l)
				mustTell(t, n)
			})
		})
	}
}

// Files that appear, disappear and reappear are reported, even if the directories above them
// disappear as well.
func TestNotifySurvives(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l *ledger) {
		n := notify(t, l, []string{"op"}, []string{"g"})
		dirs := []string{filepath.Dir(l.dir), l.dir, l.operations()}
		files := []string{l.operation("op"), l.registry("g")}

		for there := range 2 * (len(dirs) + 1) {
			there %= len(dirs) + 1
			must(t, os.RemoveAll(dirs[0]))
			for _, dir := range dirs[:there] {
				must(t, os.Mkdir(dir, 0o700))
				n.Arm()
			}

			var hand sync.WaitGroup
			for _, file := range files {
				hand.Go(func() {
					if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
						os.WriteFile(file, nil, 0o600)); err != nil {
						t.Error(err)
					}
				})
				await(t, n, func() bool { return !gone(t, file) })
			}

			hand.Go(func() { os.RemoveAll(dirs[0]) })
			await(t, n, func() bool { return gone(t, files[0]) && gone(t, files[1]) })
			hand.Wait()
		}

		must(t, os.Mkdir(dirs[0], 0o700))
	})
}

// A Notifier does not report changes of other files, and reports its own once.
func TestNotifyPollsOnlyItsFiles(t *testing.T) {
	t.Parallel()
	l := testLedger(t, polled{})
	revise(t, l, "op")
	n := notify(t, l, []string{"op", "new"}, nil)
	n.Arm()
	revise(t, l, "other")
	n.mu.Lock()
	stop := n.stop
	n.mu.Unlock()
	if n.compare(n.look(), stop) {
		t.Error("told of another operation")
	}

	revise(t, l, "op")
	if !n.compare(n.look(), stop) {
		t.Error("not told of the operation")
	}

	mustTell(t, n)
}

// Some time after a change everything is read again, once, because the stat of a file may not show
// the last change.
func TestNotifyPollsAgainWhenSettled(t *testing.T) {
	t.Parallel()
	l := testLedger(t, polled{})
	n := notify(t, l, []string{"op"}, nil)
	stop := make(chan struct{})
	n.seen, n.stop = n.look(), stop
	told := 0

	for range 10 * settled {
		if n.compare(n.look(), stop) {
			told++
			mustTell(t, n)
		}
	}

	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// A goroutine that was stopped while it looked ends without a report.
func TestNotifyPollThatWasStopped(t *testing.T) {
	t.Parallel()
	l := testLedger(t, polled{})
	n := notify(t, l, []string{"op"}, nil)
	stop := make(chan struct{})
	revise(t, l, "op")
	if !n.compare(n.look(), stop) {
		t.Error("it goes on")
	}

	select {
	case <-n.C():
		t.Error("it told of a change")
	default:
	}
}

// ways are how a file gets its next content.
var ways = map[string]func(path, text string) error{
	"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) },
	"renamed": func(path, text string) error {
		return errors.Join(os.WriteFile(path+".new", []byte(text), 0o600),
			os.Rename(path+".new", path))
	},
	"removed": func(path, text string) error {
		return errors.Join(os.Remove(path), os.WriteFile(path, []byte(text), 0o600))
	},
	"moved, directory and all": func(path, text string) error {
		dir := filepath.Dir(path)
		old := filepath.Join(filepath.Dir(dir), "old"+text)
		return errors.Join(os.Rename(dir, old), os.Mkdir(dir, 0o700),
			os.WriteFile(path, []byte(text), 0o600))
	},
}

// Each change is made after the one before was seen, while Arm or the read is running.
func TestNotifyMissesNotOne(t *testing.T) {
	t.Parallel()
	for name, next := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachWay(t, func(t *testing.T, l *ledger) {
				rounds := 1000
				if _, ok := l.fs.(disk.OS); !ok {
					rounds = 10
				}

				path := l.operation("op")
				writeFile(t, path, "0")
				n := notify(t, l, []string{"op"}, nil)
				seen := make(chan int)
				var writer sync.WaitGroup
				writer.Go(func() {
					for i := range seen {
						if err := next(path, strconv.Itoa(i)); err != nil {
							t.Error(err)
						}
					}
				})

				for i := 1; i <= rounds; i++ {
					seen <- i
					await(t, n, func() bool {
						data, _ := os.ReadFile(path)
						return string(data) == fmt.Sprint(i)
					})
				}

				close(seen)
				writer.Wait()
			})
		})
	}
}

func TestNotifierClosed(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l *ledger) {
		n := l.notify([]string{"op"}, nil)
		n.Arm()
		must(t, n.Close())
		must(t, n.Close())
		n.Arm()
		if n.stop != nil {
			t.Error("it polls")
		}
	})
}
