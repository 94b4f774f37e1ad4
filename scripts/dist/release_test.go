package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// platforms are those of the Makefile.
var platforms = []string{"linux-amd64", "linux-arm64", "darwin-arm64", "windows-amd64"}

// staged returns a stage with small files, whose permissions for others and age depend on private
// and now.
func staged(t *testing.T, private fs.FileMode, now time.Time) string {
	t.Helper()
	stage := t.TempDir()
	put := func(name string, mode fs.FileMode) {
		t.Helper()
		name = filepath.Join(stage, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("what is in "+filepath.Base(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode&^private); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, now, now); err != nil {
			t.Fatal(err)
		}
	}

	for _, platform := range platforms {
		put(platform+"/dpl-push", 0o755)
	}

	for _, prefix := range []string{"archive/usr/local", "package/usr"} {
		for _, name := range []string{
			"bin/dpl-push", manifest, "lib/systemd/system/dpl.timer",
			"share/systemd/user/dpl.timer", "share/man/man1/dpl-push.1",
			"share/zsh/site-functions/_dpl", "share/dpl/dpl.sh", "share/dpl/dpl.py",
			"share/doc/dpl/LICENSE",
		} {
			put(prefix+"/"+name, 0o644)
		}
	}

	return stage
}

// packages makes packages of what is staged for the platforms and returns their directory.
func packages(t *testing.T, stage string, platforms []string) string {
	t.Helper()
	out := t.TempDir()
	r := release{version: "v1.2.0", time: time.Unix(1_700_000_000, 0).UTC(),
		licences: map[string][]byte{}}
	for _, platform := range platforms {
		r.licences[platform] = []byte("theirs\n")
	}

	if err := r.make(stage, out, platforms); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRelease makes packages of files that differ only in ways that must not show, compares their
// bytes, and examines each archive.
func TestRelease(t *testing.T) {
	t.Parallel()
	first := packages(t, staged(t, 0o000, time.Now()), platforms)
	second := packages(t, staged(t, 0o077, time.Unix(1, 0)), platforms[1:])
	same(t, "make dist", below(t, first), []string{
		"dpl-v1.2.0-linux-amd64.tar.gz", "dpl-v1.2.0-linux-arm64.tar.gz",
		"dpl-v1.2.0-darwin-arm64.tar.gz",
		"dpl-v1.2.0-windows-amd64.zip", "dpl_1.2.0_amd64.deb", "dpl_1.2.0_arm64.deb",
		"dpl-1.2.0-1.x86_64.rpm", "dpl-1.2.0-1.aarch64.rpm", "dpl_1.2.0-r0_x86_64.apk",
		"dpl_1.2.0-r0_aarch64.apk", "dpl.rb", "SHA256SUMS",
	})

	for _, name := range below(t, second) {
		if name != "SHA256SUMS" && name != "dpl.rb" && text(t, first, name) != text(t, second, name) {
			t.Errorf("%s: differs with the mode and time of the files", name)
		}
	}

	below := "dpl-v1.2.0-darwin-arm64/"
	got := headers(t, text(t, first, "dpl-v1.2.0-darwin-arm64.tar.gz"))
	want := []string{
		below + "bin/dpl-push", below + "share/doc/dpl/LICENSE",
		below + "share/doc/dpl/THIRD-PARTY-LICENSES", below + "share/dpl/dpl.py",
		below + "share/dpl/dpl.sh", below + "share/man/man1/dpl-push.1",
		below + "share/zsh/site-functions/_dpl",
	}

	if !slices.Equal(got, want) {
		t.Errorf("darwin: %q, want %q", got, want)
	}

	deb := text(t, first, "dpl_1.2.0_amd64.deb")
	at := strings.Index(deb, "data.tar.gz     ")
	if control := strings.Index(deb, "control.tar.gz  "); control%2 != 0 || at%2 != 0 {
		t.Errorf("debian: members begin at %d and %d, want even places", control, at)
	}

	got = headers(t, deb[at+60:]) // 60: the header of a member
	want = []string{
		"./usr/", "./usr/bin/", "./usr/bin/dpl-push", "./usr/lib/", "./usr/lib/systemd/",
		"./usr/lib/systemd/system/",
		"./usr/lib/systemd/system/dpl.timer", "./usr/lib/systemd/user/",
		"./usr/lib/systemd/user/dpl.timer", "./usr/share/",
		"./usr/share/doc/", "./usr/share/doc/dpl/", "./usr/share/doc/dpl/changelog.gz",
		"./usr/share/doc/dpl/copyright",
		"./usr/share/dpl/", "./usr/share/dpl/dpl.py", "./usr/share/dpl/dpl.sh",
		"./usr/share/lintian/",
		"./usr/share/lintian/overrides/", "./usr/share/lintian/overrides/dpl", "./usr/share/man/",
		"./usr/share/man/man1/",
		"./usr/share/man/man1/dpl-push.1.gz", "./usr/share/zsh/",
		"./usr/share/zsh/vendor-completions/",
		"./usr/share/zsh/vendor-completions/_dpl",
	}

	if !slices.Equal(got, want) {
		t.Errorf("debian: %q, want %q", got, want)
	}
}

// headers returns the names in an archive in order, and checks modes, owners and times.
func headers(t *testing.T, archive string) []string {
	t.Helper()
	compressed, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}

	compressed.Multistream(false)
	data, err := io.ReadAll(compressed)
	if err != nil {
		t.Fatal(err)
	}

	var names []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}

		names = append(names, header.Name)
		mode := int64(0o644)
		if strings.HasSuffix(header.Name, "/") || strings.Contains(header.Name, "/bin/") {
			mode = 0o755
		}
		if header.Mode != mode || header.Uid != 0 || header.Gid != 0 ||
			header.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s: %o %d:%d %v", header.Name, header.Mode, header.Uid, header.Gid,
				header.ModTime)
		}
	}
}

// TestReleaseWithoutVersion refuses to name packages after no version.
func TestReleaseWithoutVersion(t *testing.T) {
	for _, version := range []string{"", "unknown"} {
		if err := (release{version: version}).make(staged(t, 0, time.Now()), t.TempDir(),
			platforms); err == nil {
			t.Errorf("version %q: makes packages", version)
		}
	}
}
