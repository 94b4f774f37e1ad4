//go:build unix

package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What lies in the directory follows from the links of the moment.
func TestInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "top")
	for _, path := range []string{"top/sub/deep", "top2", "beside"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, target := range map[string]string{"top/out": "../beside", "top/in": "sub/deep",
		"top/up":  "sub/..",
		"top/abs": top + "/sub", "top/away": dir, "top/lost": "../nothing", "top/round": "round",
		"top/chain": "in/../../out", "top/self": "/proc/self/cwd", "top/fd": "/dev/fd/0", "top/back": "../top/sub", "way": "top"} {
		if err := os.Symlink(target, filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	t.Chdir(filepath.Join(dir, "way"))
	for path, want := range map[string]bool{
		"": true, ".": true, "file": true, "./sub//deep/": true, "new": true, "new/more": true,
		"sub/..":      true,
		"sub/../file": true, "in": true, "in/new": true, "up": true, "abs/deep": true,
		"back/deep": true,
		"...":       true, "a..b": true, top: true, top + "/file": true, dir + "/way/file": true,

		"..": false, "../top": true, "../top2": false, "../way/file": true, "../beside": false,
		"/":    false,
		"/etc": false, "out": false, "out/new": false, "out/../top": false, "in/..": false,
		"in/../..": false,
		"up/..":    false, "away": false, "away/top": true, "lost": false, "round": false,
		"chain":  false,
		"new/..": false, "new/../file": false, "new/../../beside": false, "file/x": false, "file/..": false, "file/": false,
		"a\x00b":  false,
		top + "2": false, dir: false,

		// Where these lead depends on the process that asks.
		"/proc/self/cwd": false, "/proc/self/cwd/file": false, "/proc/thread-self/cwd/file": false,
		"/proc/self/root" + top: false, "self": false, "self/file": false, "fd": false,
	} {
		if got := inside("")(path); got != want {
			t.Errorf("%q: %t, want %t", path, got, want)
		}
	}

	// A request that takes too long is not known to be inside.
	near := inside("")
	if long := strings.Repeat("sub/../", 500); !near(long) || near(strings.Repeat(long, 2)) {
		t.Error("a path may have 4096 bytes")
	}
	many := 0
	for many < 1000 && near(strings.Repeat("sub/../", 500)) {
		many++
	}
	if many < 20 || many == 1000 {
		t.Errorf("%d paths of 500 names were looked up", many)
	}

	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"sub", "", true}, {"sub", "..", true}, {"sub", "../..", false}, {"sub", "deep",
			true}, {top, "file", true},
		{"in", "", true}, {"in", "..", true}, {"out", "", false}, {"out", top, false}, {"..",
			"top/file", false},
		{"/", top, false}, {"none", "", true}, {"none", "..", false},
		{"self", "file", false}, {"/proc/self/cwd", top, false},
	} {
		if got := inside(c.dir)(c.path); got != c.want {
			t.Errorf("%q in %q: %t, want %t", c.path, c.dir, got, c.want)
		}
	}
}
