package survey

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
)

// faulty is a file system that breaks one promise.
type faulty struct {
	disk.FS
	create  func(path string, mode fs.FileMode) (disk.File, error)
	link    func(old, new string) error
	move    func(old, new string) error
	replace func(old, new string) error
	tear    *tear // nil: readers are not waited for
}

// A tear is a moment at which the replaced file is wrong. It lasts until a reader has seen it.
type tear struct {
	seen chan struct{}
	once sync.Once
}

func newTear() *tear { return &tear{seen: make(chan struct{}, 1)} }

// wait returns when a reader has seen the tear. It waits only for the first one.
func (t *tear) wait() {
	t.once.Do(func() {
		select {
		case <-t.seen:
		case <-time.After(30 * time.Second):
		}
	})
}

func (t *tear) saw() {
	select {
	case t.seen <- struct{}{}:
	default:
	}
}

func (f faulty) Within(base string, admit func(string, disk.Info) error) disk.FS {
	f.FS = f.FS.Within(base, admit)
	return f
}

func (f faulty) Open(path string) (disk.File, error) {
	file, err := f.FS.Open(path)
	if f.tear == nil || filepath.Base(path) != "replaced" {
		return file, err
	}

	if err != nil {
		f.tear.saw()
		return nil, err
	}
	return &look{File: file, tear: f.tear}, nil
}

// A look is a reader's of a file of 8192 bytes.
type look struct {
	disk.File
	tear *tear
	read int
}

func (l *look) Read(p []byte) (int, error) {
	n, err := l.File.Read(p)
	l.read += n
	return n, err
}

func (l *look) Close() error {
	if l.read < 8192 {
		l.tear.saw()
	}
	return l.File.Close()
}

func (f faulty) Create(path string, mode fs.FileMode) (disk.File, error) {
	if f.create != nil {
		return f.create(path, mode)
	}
	return f.FS.Create(path, mode)
}

func (f faulty) Link(old, new string) error {
	if f.link != nil {
		return f.link(old, new)
	}
	return f.FS.Link(old, new)
}

func (f faulty) Move(old, new string) error {
	if f.move != nil {
		return f.move(old, new)
	}
	return f.FS.Move(old, new)
}

func (f faulty) Replace(old, new string) error {
	if f.replace != nil {
		return f.replace(old, new)
	}
	return f.FS.Replace(old, new)
}

// tried returns what comes of each trial in a new ledger on f.
func tried(t *testing.T, f disk.FS) map[string]error {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	if _, err := fileops.Create(dir, fileops.Config{}, fileops.Options{}); err != nil {
		t.Fatal(err)
	}

	survey, err := Inspect(dir, fileops.Options{FS: f})
	if err != nil || survey.Refusal != nil {
		t.Fatal(err, survey.Refusal)
	}

	s, err := survey.Scratch()
	if err != nil {
		t.Fatal(err)
	}

	results := map[string]error{
		"exclusive": s.Exclusive(), "link": s.Link(), "move": s.Move(), "replace": s.Replace(),
		"sync": s.Sync(),
	}

	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".dpl-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}

	return results
}

func TestScratchOfASoundFileSystem(t *testing.T) {
	for what, err := range tried(t, disk.OS{}) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Each defect is found, by the trial that is for it and by no other.
func TestScratchFindsDefects(t *testing.T) {
	copying, removing := newTear(), newTear()
	over := func(old, new string) error { return os.Rename(old, new) }
	for _, tt := range []struct {
		defect, found, says string
		fs                  faulty
	}{
		{"O_EXCL is ignored", "exclusive", "does not refuse",
			faulty{create: func(path string, mode fs.FileMode) (disk.File, error) {
				f, err := disk.OS{}.Create(path, mode)
				if errors.Is(err, fs.ErrExist) {
					os.Remove(path)
					return disk.OS{}.Create(path, mode)
				}
				return f, err
			}}},
		{"link replaces", "link", "does not refuse", faulty{link: func(old, new string) error {
			os.Remove(new)
			return os.Link(old, new)
		}}},
		{"link copies", "link", "another file instead of another name",
			faulty{link: func(old, new string) error {
				data, err := os.ReadFile(old)
				if err != nil {
					return err
				}
				if _, err := os.Lstat(new); err == nil {
					return fs.ErrExist
				}
				return os.WriteFile(new, data, 0o600)
			}}},
		{"a move replaces", "move", "does not refuse", faulty{move: over}},
		{"a renaming copies", "replace", "a reader during a renaming",
			faulty{tear: copying, replace: func(old, new string) error {
				data, err := os.ReadFile(old)
				if err != nil {
					return err
				}
				err = os.WriteFile(new, data[:len(data)/2], 0o600)
				copying.wait()
				return errors.Join(err, os.WriteFile(new, data, 0o600), os.Remove(old))
			}}},
		{"a renaming removes first", "replace", "a reader during a renaming",
			faulty{tear: removing, replace: func(old, new string) error {
				err := os.Remove(new)
				removing.wait()
				return errors.Join(err, os.Rename(old, new))
			}}},
	} {
		t.Run(tt.defect, func(t *testing.T) {
			tt.fs.FS = disk.OS{}
			for what, err := range tried(t, tt.fs) {
				if errors.Is(err, ErrUnsound) != (what == tt.found) || err != nil &&
					!strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: got %v, and want an error only of %s: %s", what, err, tt.found,
						tt.says)
				}
			}
		})
	}
}

// The next pass removes what a killed process left. What is in use stays.
func TestSweepScratch(t *testing.T) {
	l := testLedger(t, fileops.Config{}, fileops.Options{})
	survey, err := Inspect(l.Dir(), fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}

	used, err := survey.Scratch()
	if err != nil {
		t.Fatal(err)
	}

	dead, err := survey.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.used.Unlock(); err != nil { // as its end would
		t.Fatal(err)
	}
	if err := l.Sweep(); err != nil {
		t.Fatal(err)
	}
	if exists(dead.dir) || !exists(used.dir) {
		t.Errorf("the dead one's directory is there: %v; the used one's: %v", exists(dead.dir),
			exists(used.dir))
	}
	if err := used.Remove(); err != nil || exists(used.dir) {
		t.Errorf("not removed: %v", err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
