package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Everything is read, even if the file grows in the meantime.
func TestReadAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 4095, 4096, 5000, 100_000} {
		want := strings.Repeat("0123456789", size/10+1)[:size]
		must(t, os.WriteFile(path, []byte(want), 0o600))
		for _, said := range []int{0, size / 2, size, size + 1, size + 5000} {
			f, err := disk.OS{}.Open(path)
			must(t, err)
			got, err := readAll(path, f, int64(said))
			if string(got) != want || err != nil {
				t.Errorf("%d bytes, said to be %d: got %d, %v", size, said, len(got), err)
			}
			must(t, f.Close())
		}
	}
}

// A file that grows while it is read is not read for ever.
func TestEndlessFile(t *testing.T) {
	t.Parallel()
	if _, err := readAll("endless", endless{}, 1); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// An endless file is larger than it says.
type endless struct{ disk.File }

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// An owner is named as the user knows it.
func TestUserName(t *testing.T) {
	t.Parallel()
	if got := UserName(0); got != "root" {
		t.Errorf("got %q", got)
	}
	if got, want := UserName(1234567890), "uid 1234567890"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
