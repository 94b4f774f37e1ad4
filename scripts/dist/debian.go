package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	maintainer = "The DPL authors <dpl-project@users.noreply.github.com>"
	homepage   = "https://github.com/dpl-project/dpl"
)

// control is the control file: version, architecture, installed KiB. There is no script, because
// installing and removing the package need no action. The units are disabled, and systemd finds
// them when they are enabled.
const control = `Package: dpl
Version: %s
Architecture: %s
Maintainer: ` + maintainer + `
Installed-Size: %d
Suggests: cron | systemd
Section: utils
Priority: optional
Homepage: ` + homepage + `
Description: ledger of calls between processes, which notices the dead
 DPL, the Distributed Process Ledger, is for chains of calls between shell
 scripts, makefiles, jobs, workers and agents, in any language. Each
 participant runs one small command when it begins, now and then while it
 works, and when it ends, or one around it that does all this. The commands
 keep the stack of calls in a JSON file.
 .
 Whichever of them runs next notices that a participant has died, stops the
 operation, deletes what the dead one had declared, and tells the others by
 an exit status. Groups of services are started and restarted in the same
 way. There is no daemon; a timer or a line in a crontab does what is to be
 done when nobody is left.
`

// overrides tells lintian what is as it should be.
const overrides = `# The commands are to run wherever the ledger is: in a chroot, a container, an initramfs.
dpl: statically-linked-binary [usr/bin/dpl*]
`

// moved has the places that Debian keeps for packages, for those that make install uses.
var moved = map[string]string{
	"share/zsh/site-functions": "share/zsh/vendor-completions",
	"share/systemd/user":       "lib/systemd/user",
}

// debian returns a Debian package of the commands of platform and the files staged below
// debian/usr.
func (r release) debian(stage, platform string, commands tree) ([]byte, error) {
	shared, err := readTree(filepath.Join(stage, "debian/usr"))
	if err != nil {
		return nil, err
	}

	var files tree
	for _, f := range shared.without("bin", manifest) {
		if to := moved[path.Dir(f.path)]; to != "" {
			f.path = to + "/" + path.Base(f.path)
		}

		switch {
		case strings.HasPrefix(f.path, "share/man/"):
			f.path, f.data = f.path+".gz", gzipped(f.data)
		case f.path == "share/doc/dpl/LICENSE":
			f.path, f.data = "share/doc/dpl/copyright", r.copyright(f.data, r.licences[platform])
		}

		files = append(files, f)
	}

	version := debianVersion(r.version, r.time)
	files = append(files, commands.below("bin")...)
	files = append(files,
		file{"share/doc/dpl/changelog.gz", 0o644, gzipped([]byte(r.changelog(version)))},
		file{"share/lintian/overrides/dpl", 0o644, []byte(overrides)})

	files = files.below("usr")
	files.sort()

	var sums strings.Builder
	for _, f := range files {
		if !f.isLink() {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.path)
		}
	}

	packed := files.withDirectories()
	about := tree{
		{"control", 0o644, fmt.Appendf(nil, control, version, architectures[platform],
			packed.kibibytes())},
		{"md5sums", 0o644, []byte(sums.String())},
	}

	return deb(about.withDirectories(), packed, r.time)
}

// kibibytes returns the installed size as Debian counts it: each file is rounded up, and a
// directory or a link counts as one.
func (t tree) kibibytes() int {
	size := 0
	for _, f := range t {
		size += (len(f.data) + 1023) / 1024
		if f.mode.IsDir() {
			size++
		}
	}
	return size
}

// copyright returns what Debian's policy requires about the origin, and all licences: ours and
// those of our dependencies.
func (r release) copyright(ours, theirs []byte) []byte {
	return fmt.Appendf(nil, "DPL was made by its authors, and is found at %s\n\n%s\n\n%s", homepage,
		bytes.TrimSpace(ours), theirs)
}

// changelog returns a changelog in Debian's format with an entry for the version.
func (r release) changelog(version string) string {
	return fmt.Sprintf("dpl (%s) unstable; urgency=medium\n\n  * See "+
		"/usr/share/doc/dpl/CHANGELOG.md.\n\n -- %s  %s\n",
		version, maintainer, r.time.Format(time.RFC1123Z))
}

// deb returns the bytes of a package, see deb(5): an archive of ar with the two given ones.
func deb(about, files tree, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	member := func(name string, data []byte) {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, when.Unix(), 0, 0, 0o100644, len(data))
		b.Write(data)
		if len(data)%2 == 1 {
			b.WriteByte('\n')
		}
	}

	member("debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files tree
	}{{"control.tar.gz", about}, {"data.tar.gz", files}} {
		packed, err := tarGz(part.files, when)
		if err != nil {
			return nil, err
		}
		member(part.name, packed)
	}

	return b.Bytes(), nil
}
