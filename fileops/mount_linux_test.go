package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mount makes scratch/deep/mounted below root a mount point during the test, even if it is moved:
// of a new file system, or of source.
func mount(t *testing.T, source, root string) (target string) {
	t.Helper()
	target = filepath.Join(root, "scratch/deep/mounted")
	if err := os.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}

	kind, flags := "tmpfs", uintptr(0)
	if source != "" {
		kind, flags = "", syscall.MS_BIND
	}

	mountOrSkip(t, source, target, kind, flags)
	t.Cleanup(func() {
		moved, err := filepath.Glob(filepath.Join(root, "*", "deep/mounted"))
		if err != nil || len(moved) != 1 || syscall.Unmount(moved[0], syscall.MNT_DETACH) != nil {
			t.Errorf("cannot unmount %v, %v", moved, err)
		}
	})

	return target
}

// mountFile makes the file called file in dir a mount point during the test.
func mountFile(t *testing.T, dir string) (target string) {
	t.Helper()
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "file")
	writeFile(t, source, "mounted")
	writeFile(t, target, "x")
	mountOrSkip(t, source, target, "", syscall.MS_BIND)
	t.Cleanup(func() { must(t, syscall.Unmount(target, syscall.MNT_DETACH)) })
	return target
}

// mountOrSkip skips the test if it may not mount.
func mountOrSkip(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		if os.Geteuid() != 0 && os.Getenv("STRICT") != "" {
			t.Fatal("mounting needs root, and STRICT leaves nothing out: ", err)
		}
		t.Skip("mounting needs root with CAP_SYS_ADMIN: ", err)
	}
}

func TestMountPointsAreNotCrossed(t *testing.T) {
	for _, kind := range []string{"tmpfs", "bind"} {
		t.Run(kind, func(t *testing.T) {
			l, root := rooted(t, Options{})
			source := ""
			if kind == "bind" {
				source = filepath.Join(root, "source")
				writeFile(t, filepath.Join(source, "old"), "x")
			}

			point := mount(t, source, root)
			file := filepath.Join(point, "dir/file")
			writeFile(t, file, "x")

			for _, path := range []string{file, filepath.Dir(file)} {
				if err := l.CheckResource("op", path); !errors.Is(err, ErrResource) {
					t.Errorf("check %s: %v", path, err)
				}
				if err := l.Edit("op", Existing, discard(path)); !errors.Is(err, ErrResource) {
					t.Errorf("discard %s: %v", path, err)
				}
			}

			if err := l.Edit("op", Existing, discard(point)); err == nil {
				t.Error("a mount point was renamed")
			}
			if gone(t, file) {
				t.Fatal("deleted on another mount")
			}

			// Everything around a mount point is deleted, except the way to it, and an error says
			// so.
			writeFile(t, filepath.Join(root, "scratch/other"), "x")
			if err := l.Edit("op", Existing, discard(filepath.Join(root, "scratch"))); err != nil {
				t.Error(err)
			}
			if len(l.Leftovers()) != 1 {
				t.Error("nothing was said about the rest")
			}
			if err := l.Sweep(); err == nil {
				t.Error("sweep: nothing was said about the rest")
			}

			paths, err := filepath.Glob(filepath.Join(root, ".dpl-trash-"+"*",
				"deep/mounted/dir/file"))
			if err != nil || len(paths) != 1 {
				t.Errorf("deleted on another mount: %v, %v", paths, err)
			}
			if others, _ := filepath.Glob(filepath.Join(root, ".dpl-trash-"+"*",
				"other")); len(others) > 0 {
				t.Errorf("left: %v", others)
			}
		})
	}
}

// A file that is a mount point is refused before the call begins, because no rename replaces it.
func TestNewFileOnAMountPoint(t *testing.T) {
	l := testLedger(t, Config{}, Options{})
	root := t.TempDir()
	point := mountFile(t, root)
	if err := l.TryNewFile(point); !errors.Is(err, ErrPublish) ||
		!strings.Contains(err.Error(), "mount its directory instead") {
		t.Errorf("got %v", err)
	}
	wantNames(t, root, "file", "source")
	must(t, l.TryNewFile(filepath.Join(root, "source")))
}
