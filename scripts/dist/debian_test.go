package main

import (
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	programs "github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// debianPackage checks that the package has the files of make install at Debian's places, and can
// be installed, used and purged.
func debianPackage(t *testing.T, source, deb string) {
	strict.Program(t, "dpkg-deb")
	dir := t.TempDir()
	output(t, exec.Command("dpkg-deb", "--raw-extract", deb, dir))
	want := []string{"DEBIAN/control", "DEBIAN/md5sums", "DEBIAN/postrm", "DEBIAN/prerm",
		"usr/share/doc/dpl/changelog.gz",
		"usr/share/lintian/overrides/dpl"}

	for _, name := range packed(t, source) {
		switch path.Dir(name) {
		case "share/zsh/site-functions":
			name = "share/zsh/vendor-completions/" + path.Base(name)
		case "share/systemd/user":
			name = "lib/systemd/user/" + path.Base(name)
		case "share/man/man1", "share/man/man5", "share/man/man7":
			name += ".gz"
		}

		if name == "share/doc/dpl/LICENSE" {
			name = "share/doc/dpl/copyright"
		}

		want = append(want, "usr/"+name)
	}

	same(t, "package", below(t, dir), want)
	for _, unit := range []string{"system/dpl-cleanup.service", "user/dpl-cleanup.service"} {
		if !strings.Contains(text(t, dir, "usr/lib/systemd", unit),
			"\nExecStart=/usr/bin/dpl-cleanup ") {
			t.Errorf("%s: want the command of the package", unit)
		}
	}

	checkMembers(t, deb, dir)
	t.Run("purge", func(t *testing.T) { debianPurge(t, deb) })
}

// regular returns names without those of links: commands other than the programs.
func regular(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		base := path.Base(name)
		return path.Base(path.Dir(name)) == "bin" && !slices.Contains(programs.Programs(), base)
	})
}

// checkMembers compares the sums, the size, the owners and the modes in a package with its
// contents, unpacked to dir.
func checkMembers(t *testing.T, deb, dir string) {
	t.Helper()
	sums := exec.Command("md5sum", "--check", "--strict", "DEBIAN/md5sums")
	sums.Dir = dir
	if got, want := strings.Count(output(t, sums),
		": OK\n"), len(regular(below(t, filepath.Join(dir, "usr")))); got != want {
		t.Errorf("%d sums, want %d", got, want)
	}

	fields := output(t, exec.Command("dpkg-deb", "--show",
		"--showformat=${Package}_${Version}_${Architecture}.deb ${Installed-Size}", deb))
	size := 0
	if _, err := fmt.Sscanf(fields, filepath.Base(deb)+" %d", &size); err != nil || size < 10_000 ||
		size > 35_000 {
		t.Errorf("%q, want %s and KiB: %v", fields, filepath.Base(deb), err)
	}

	for line := range strings.Lines(output(t, exec.Command("dpkg-deb", "--contents", deb))) {
		if fields := strings.Fields(line); fields[1] != "root/root" ||
			!slices.Contains(readableModes, fields[0]) {
			t.Errorf("%s: want it to be root's, and readable", line)
		}
	}
}
