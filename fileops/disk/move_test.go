package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Both ways to rename without replacing keep the same promises.
func TestMoveReplacesNothing(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(old, new string) error{"move": OS{}.Move,
		"linkThenRemove": OS{}.linkThenRemove} {
		dir := t.TempDir()
		old, taken, free := filepath.Join(dir, "old"), filepath.Join(dir,
			"taken"), filepath.Join(dir, "free")
		writeFile(t, old, "old")
		writeFile(t, taken, "taken")
		if err := move(old, taken); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s to a name that is taken: %v", name, err)
		}

		must(t, move(old, free))
		for path, want := range map[string]string{taken: "taken", free: "old"} {
			if got, err := os.ReadFile(path); string(got) != want || err != nil {
				t.Errorf("%s: %s: got %q, %v", name, path, got, err)
			}
		}

		if err := move(old, free); !errors.Is(err, fs.ErrNotExist) || !gone(t, old) {
			t.Errorf("%s again: %v", name, err)
		}
	}
}
